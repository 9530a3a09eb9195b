/** A table's stream as the event of a function. */
import type { Simulator } from "../simulator/simulator.ts";
import { streamReader } from "../simulator/stream-reader.ts";

const MAX_RECORDS = 1000;

/**
 * All changes of a table so far, as one batch of its stream. For example: `explore(relay, (aws) =>
 * streamEvent(aws, "idempotency"))`, with a `setUp` that makes the changes. The table must have a stream.
 */
export async function streamEvent(aws: Simulator, tableName: string): Promise<{ Records: object[] }> {
  return { Records: [...(await streamReader(aws.dynamodb, tableName).next(MAX_RECORDS))] };
}
