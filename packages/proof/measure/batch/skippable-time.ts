// The time of this process, which a benchmark moves on instead of waiting for it. Everybody reads it, as in production:
// from `Date.now()`, and from what the engine says of its own. Timers and the network go on as they are.
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";

interface WithHeaders {
  readonly headers?: Record<string, string>;
}

export class SkippableTime {
  readonly #systemNow = Date.now;
  #skippedMs = 0;

  start(): void {
    Date.now = () => this.#systemNow() + this.#skippedMs;
  }

  get skippedMs(): number {
    return this.#skippedMs;
  }

  skip(ms: number): void {
    this.#skippedMs += ms;
  }

  /** From now on the engine's time, as its answers tell it to the client, has been moved on too. */
  attach(client: DynamoDBClient): void {
    client.middlewareStack.add(
      (next) => async (args) => {
        const answer = await next(args);
        const { headers } = answer.response as WithHeaders;
        const engineNow = Date.parse(String(headers?.date));
        // Without this the SDK takes the two for skewed clocks, and repeats what was refused.
        if (headers && engineNow) headers.date = new Date(engineNow + this.#skippedMs).toUTCString();
        return answer;
      },
      { step: "deserialize", priority: "low", name: "skipTime" },
    );
  }

  stop(): void {
    Date.now = this.#systemNow;
  }
}
