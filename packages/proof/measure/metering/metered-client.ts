// A metered DynamoDB client that can lose answers of requests that the engine carried out, so that the SDK repeats them.
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { connectionReset } from "../../../../test/kit/faults/connection-reset.ts";
import { connect } from "../../../../test/kit/tables.ts";
import { createMeter, type Tally } from "./meter.ts";

export interface MeteredClient {
  readonly client: DynamoDBClient;
  /** What was spent while `work` ran. */
  during(work: () => Promise<unknown>): Promise<Tally>;
  /** The answer of the nth request from now (1 is the next) is lost after the engine applied it. */
  loseAnswer(nth: number): void;
}

export async function meteredClient(endpoint: string): Promise<MeteredClient> {
  const meter = await createMeter(endpoint);
  const client = connect(endpoint);
  let loseAt: number | undefined;
  meter.attach(client);
  client.middlewareStack.add(
    (next) => async (args) => {
      const answer = await next(args);
      if (meter.spent.requests === loseAt) throw connectionReset();
      return answer;
    },
    { step: "finalizeRequest", priority: "low", name: "loseAnswer" },
  );
  return {
    client,
    during: (work) => meter.during(work),
    loseAnswer(nth) {
      loseAt = meter.spent.requests + nth;
    },
  };
}
