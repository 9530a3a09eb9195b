// A client of POST /orders: asks again under the same key until it has an answer, as API clients do.
import type { SimulatedFunction } from "../../../packages/explorer/lib/simulator/simulated-function.ts";
import type { Simulator } from "../../../packages/explorer/lib/simulator/simulator.ts";
import { postOrder } from "./events.ts";

export interface Answer {
  readonly key: string;
  readonly statusCode: number;
  readonly body: string;
  readonly tries: number;
}

export interface OrderClient {
  run(): Promise<Answer>;
}

export interface OrderClientOptions {
  readonly aws: Simulator;
  readonly fn: SimulatedFunction;
  readonly key: string;
  readonly startMs: number;
}

const MOST_TRIES = 40;

export function orderClient({ aws, fn, key, startMs }: OrderClientOptions): OrderClient {
  return {
    async run() {
      await aws.clock.sleep(startMs);
      for (let tries = 1; ; tries++) {
        const invocation = await fn.invoke(orderEvent(key));
        const { statusCode, body, headers } = answerOf(
          invocation.outcome === "returned" ? invocation.value : {},
        );
        if (statusCode < 500 && statusCode !== 409) return { key, statusCode, body, tries };
        if (tries === MOST_TRIES) return { key, statusCode, body, tries };
        await aws.clock.sleep(1000 * Number(headers["Retry-After"] ?? headers["retry-after"] ?? 1));
      }
    },
  };
}

export const orderEvent = (key: string, tenant?: string) =>
  postOrder(undefined, { "idempotency-key": `"${key}"` }, tenant);

/** What API Gateway makes of a failed invocation is a status of 500. */
function answerOf(value: unknown) {
  const {
    statusCode = 500,
    body = "",
    headers = {},
  } = Object(value) as Partial<{
    statusCode: number;
    body: string;
    headers: Record<string, string>;
  }>;
  return { statusCode, body, headers };
}
