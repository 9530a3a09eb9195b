// This process's time, which a benchmark advances instead of waiting. All code reads it as in production:
// from `Date.now()`, and from the engine's own clock. Timers and the network run as usual.
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

  /** From now on the engine's time, as its responses report it to the client, is advanced too. */
  attach(client: DynamoDBClient): void {
    client.middlewareStack.add(
      (next) => async (args) => {
        const answer = await next(args);
        const { headers } = answer.response as WithHeaders;
        const engineNow = Date.parse(String(headers?.date));
        // Without this the SDK treats the difference as clock skew, and repeats rejected requests.
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
