// A deployed function whose runs are counted and whose requests are metered, so only what the path describes
// is counted.
import { randomUUID } from "node:crypto";
import type { Invoke, LambdaHandler } from "../contestants/lambda-call.ts";
import { postOrder } from "../contestants/lambda-call.ts";
import { lambdaContext } from "../contestants/world.ts";
import type { Tally } from "../metering/meter.ts";
import type { MeteredClient } from "../metering/metered-client.ts";

export class Subject {
  readonly #metered: MeteredClient;
  readonly #invoke: Invoke;
  #runs = 0;
  #beforeAnswer: () => Promise<void> = async () => {};

  constructor(metered: MeteredClient, deploy: (handler: LambdaHandler) => Invoke, handler: LambdaHandler) {
    this.#metered = metered;
    this.#invoke = deploy(async (event, context) => {
      this.#runs++;
      const answer = await handler(event, context);
      await this.#beforeAnswer();
      return answer;
    });
  }

  freshKey(): string {
    return randomUUID();
  }

  post(key: string): Promise<unknown> {
    return this.#invoke(postOrder(key), lambdaContext());
  }

  /** Sends a request whose handler goes on until `finish` is called; resolves once the handler runs. */
  async postHeld(key: string): Promise<{ finish(): Promise<unknown> }> {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const running = new Promise<void>((resolve) => {
      this.#beforeAnswer = () => {
        resolve();
        return released;
      };
    });
    const answer = this.post(key);
    await running;
    this.#beforeAnswer = async () => {};
    return {
      finish() {
        release();
        return answer;
      },
    };
  }

  loseAnswer(nth: number): void {
    this.#metered.loseAnswer(nth);
  }

  /** @throws Error unless the handler ran as often as expected. */
  async spend(expectedRuns: number, work: () => Promise<unknown>): Promise<Tally> {
    const before = this.#runs;
    const tally = await this.#metered.during(work);
    const runs = this.#runs - before;
    if (runs !== expectedRuns) throw new Error(`the handler ran ${runs} times; expected ${expectedRuns}`);
    return tally;
  }
}
