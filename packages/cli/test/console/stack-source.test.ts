// The page of a local run, beside a table that can't be read: it says so, and the rest is there.
import { randomUUID } from "node:crypto";
import { CreateTableCommand } from "@aws-sdk/client-dynamodb";
import { runOnce } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { expect, inject, it } from "vitest";
import { systemClock } from "../../../../lib/core/clock.ts";
import { connect, createTable } from "../../../../test/kit/tables.ts";
import type { RunningStack } from "../../../local/lib/index.ts";
import { createBreakage } from "../../lib/console/breakage.ts";
import { decisionFeed } from "../../lib/console/decision-feed.ts";
import { stackSource } from "../../lib/console/stack-source.ts";

const { endpoint } = inject("dynamodbEngines")[0]!;
const client = connect(endpoint, { region: "us-east-1" });

function sourceOf(tables: Readonly<Record<string, string>>) {
  const stack = {
    tables: Object.fromEntries(Object.entries(tables).map(([path, name]) => [path, { name }])),
    queues: {},
    functions: {},
    topics: {},
    buses: {},
    endpoints: { dynamodb: endpoint, sqs: endpoint, aws: endpoint },
  } as unknown as RunningStack;
  const breakage = createBreakage();
  return stackSource({ stack, title: "shop", decisions: decisionFeed(), breakage, clock: systemClock });
}

it("shows the other tables and finds their keys if one is missing, and that one as soon as it exists", async () => {
  const orders = await createTable(client);
  const other = `records-${randomUUID()}`;
  const source = sourceOf({ Other: other, Orders: orders });
  const store = new DynamoDBStore({ tableName: orders, client });
  await runOnce({ operation: "order", store, leaseSeconds: 30 }, "order-7", {}, () => "done");

  const { problems, records } = await source.look();
  const { keyHash } = await source.find({ operation: "order", scope: "", key: "order-7" });

  expect(problems).toContainEqual(expect.stringMatching(/^Other: .*(not found|non-existent table)/));
  expect(records).toMatchObject([{ state: "completed" }]);
  expect(await source.lifeOf(keyHash)).toMatchObject({ state: "completed" });

  await client.send(
    new CreateTableCommand({
      TableName: other,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
      AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
    }),
  );
  const later = await source.look();

  expect(later.problems.filter((problem) => !problem.includes("index"))).toEqual([]);
  source.close();
});
