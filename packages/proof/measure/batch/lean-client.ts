// The lean client of one execution environment, metered and moved on in time as the environment's other client is. An answer
// of it is lost for good: the SDK's client repeats a request whose answer is lost, here the store learns of the loss.
import { LeanDynamoDB } from "onceonly/lean";
import type { Meter } from "../metering/meter.ts";
import type { SkippableTime } from "./skippable-time.ts";

type Send = LeanDynamoDB["send"];

type UnderFaults = <Answer>(input: object, next: () => Promise<Answer>) => Promise<Answer>;

export function leanClient(
  endpoint: string,
  meter: Meter,
  time: SkippableTime,
  underFaults: UnderFaults,
): LeanDynamoDB {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = new LeanDynamoDB({ endpoint, region: "eu-central-1", credentials });
  const send = client.send.bind(client) as (operation: string, input: object) => Promise<Reply>;
  client.send = (async (operation: string, input: object) => {
    const metered = { ...input, ReturnConsumedCapacity: "TOTAL" };
    const answer = await underFaults(input, () =>
      meter.count(operation, metered, () => send(operation, metered)),
    );
    return { ...answer, serverTimeMs: answer.serverTimeMs && answer.serverTimeMs + time.skippedMs };
  }) as Send;
  return client;
}

interface Reply {
  readonly serverTimeMs?: number;
}
