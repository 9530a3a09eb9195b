/** What a table's stream has to tell, as the event that a function gets. */
import type { Simulator } from "../simulator/simulator.ts";
import { streamReader } from "../simulator/stream-reader.ts";

const MAX_RECORDS = 1000;

/**
 * All changes of a table so far, as one batch of its stream: `explore(relay, (aws) => streamEvent(aws, "idempotency"))`,
 * after a `setUp` that makes them. The table must have a stream.
 */
export async function streamEvent(aws: Simulator, tableName: string): Promise<{ Records: object[] }> {
  const reader = streamReader(aws.dynamodb, tableName);
  const eventSourceARN = await reader.arn();
  const records = await reader.next(MAX_RECORDS);
  // As JSON has it: binary values are base64 in an event.
  const plain = JSON.parse(JSON.stringify(records, binaryAsBase64)) as object[];
  return { Records: plain.map((record) => ({ ...record, eventSourceARN })) };
}

function binaryAsBase64(_: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
}
