/** What a table's stream has to tell, as the event that a function gets. */
import type { Simulator } from "../simulator/simulator.ts";
import { streamReader } from "../simulator/stream-reader.ts";

const MAX_RECORDS = 1000;

/**
 * All changes of a table so far, as one batch of its stream: `explore(relay, (aws) => streamEvent(aws, "idempotency"))`,
 * after a `setUp` that makes them. The table must have a stream.
 */
export async function streamEvent(aws: Simulator, tableName: string): Promise<{ Records: object[] }> {
  return { Records: [...(await streamReader(aws.dynamodb, tableName).next(MAX_RECORDS))] };
}
