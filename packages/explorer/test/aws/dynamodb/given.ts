/** A model on a clock of its own, with a table and an index. */

import { fakeClock } from "../../../../../lib/testing/fake-clock.ts";
import { DynamoDBModel, type DynamoDBModelOptions } from "../../../lib/aws/dynamodb/dynamodb-model.ts";
import { newTable } from "./cases/given.ts";

export async function modelWithTable(options: DynamoDBModelOptions = {}, viewType = "NEW_IMAGE") {
  const clock = fakeClock();
  const model = new DynamoDBModel({ clock, ...options });
  const indexes = [{ name: "by-n", keys: [["n", "N"]] }] as const;
  const TableName = await newTable(
    { call: model.call.bind(model) as DynamoDBModel["call"] },
    { indexes, viewType },
  );
  return { clock, model, TableName };
}
