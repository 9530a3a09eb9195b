// Time that a run can skip: all code reads `Date.now()`, which stands still in between. Timers and the network run as usual,
// because the peer accepts no clock.
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Clock } from "../../../../lib/core/clock.ts";

export class LabTime {
  readonly #systemNow = Date.now;
  #now = 1_900_000_000_000;

  /**
   * For onceonly. The pauses between tries pass immediately. Only the alarm before a deadline uses real time: it can be
   * canceled, and doesn't keep the process alive.
   */
  readonly clock: Clock = {
    now: () => this.#now,
    sleep: async (ms, signal) => (signal ? alarm(ms, signal) : this.skip(ms)),
  };

  start(): void {
    Date.now = () => this.#now;
  }

  skip(ms: number): void {
    this.#now += ms;
  }

  /** From now on the engine's answers to the client are of this time: else the SDK sees skewed clocks, and tries again. */
  attach(client: DynamoDBClient): void {
    client.middlewareStack.add(
      (next) => async (args) => {
        const answer = await next(args);
        const { headers } = answer.response as { readonly headers?: Record<string, string> };
        if (headers?.date) headers.date = new Date(this.#now).toUTCString();
        return answer;
      },
      { step: "deserialize", priority: "low", name: "labTime" },
    );
  }

  stop(): void {
    Date.now = this.#systemNow;
  }
}

function alarm(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms).unref();
    signal.addEventListener("abort", function callOff() {
      clearTimeout(timer);
      resolve();
    });
  });
}
