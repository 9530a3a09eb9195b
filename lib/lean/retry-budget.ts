/** Decides when a request is retried: the rules of the SDK's standard mode, with its numbers for DynamoDB. */
import type { Random } from "../core/clock.ts";
import { failureKind, type WireFailure } from "../dynamodb/wire/failure-kind.ts";
import type { HttpAnswer } from "../dynamodb/wire/json.ts";
import { type ClientState, FULL_BUDGET } from "./client-state.ts";

const COST = { THROTTLING: 5, TRANSIENT: 14 } as const;
const BASE_DELAY_MS = { THROTTLING: 1000, TRANSIENT: 25 } as const;
const MAX_DELAY_MS = 20_000;
/** The most that a response can add to the delay. */
const MAX_HINT_MS = 5000;

export interface Retry {
  readonly delayMs: number;
  readonly cost: number;
}

export class RetryBudget {
  readonly #random: Pick<Random, "fraction">;
  readonly #state: ClientState;

  constructor(random: Pick<Random, "fraction">, state: ClientState) {
    this.#random = random;
    this.#state = state;
  }

  /** @returns `undefined` if the request isn't worth another try, or too much has failed lately */
  take(error: unknown, attempts: number): Retry | undefined {
    const kind = failureKind(error);
    if (kind !== "THROTTLING" && kind !== "TRANSIENT") return undefined;
    const cost = COST[kind];
    if (this.#state.tokens < cost) return undefined;
    this.#state.tokens -= cost;
    const bound = Math.min(BASE_DELAY_MS[kind] * 2 ** (attempts - 1), MAX_DELAY_MS);
    const delayMs = Math.floor(this.#random.fraction() * bound);
    const hintMs = (error as WireFailure).$metadata?.retryAfterMs ?? 0;
    return { delayMs: Math.max(delayMs, Math.min(hintMs, delayMs + MAX_HINT_MS)), cost };
  }

  /** The service has answered a request; `cost` is the price of its last retry. */
  refund(cost = 1): void {
    this.#state.tokens = Math.min(FULL_BUDGET, this.#state.tokens + cost);
  }
}

/** When the service asks to be retried. https://www.rfc-editor.org/rfc/rfc9110#name-retry-after */
export function retryAfterMs({ headers }: HttpAnswer, now: number): number | undefined {
  const { "x-amz-retry-after": ms, "retry-after": text } = headers;
  const hint = [Number(ms ?? Number.NaN), Number(text ?? Number.NaN) * 1000, Date.parse(`${text}`) - now];
  return hint.find((each) => each >= 0);
}
