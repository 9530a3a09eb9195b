// One client of the order service. Every request goes through the client library, which keeps the key over its
// retries, and through the gate, and every answer goes into the journal.
import { createIdempotentFetch } from "onceonly/client";
import { DEMO_TOKENS } from "../../../../bin/demo-tokens.ts";
import type { Gate } from "./gate.ts";
import type { Journal } from "./journal.ts";
import type { OrderBody } from "./order-plan.ts";
import type { PlannedOrder } from "./plan.ts";
import type { Answer } from "./seen.ts";

export interface ShopOptions {
  readonly url: string;
  readonly gate: Gate;
  readonly journal: Journal;
  /** Ends everything that is under way. */
  readonly signal: AbortSignal;
}

export interface AskOptions {
  /** Another body than the order's own. */
  readonly otherBody?: OrderBody | undefined;
  /** Breaks off like a user who leaves. */
  readonly signal?: AbortSignal | undefined;
  /** How each try gets in. @default the gate */
  readonly enter?: Gate["shared"] | undefined;
  readonly onKey?: ((key: string) => void) | undefined;
}

export interface ShopClient {
  /** Asks until there is a final answer, and notes how it ended, unless it was broken off; never rejects. */
  ask(order: PlannedOrder, options?: AskOptions): Promise<void>;
}

/** Longer than any lease, so that a client outlasts a killed function. */
const DEADLINE_SECONDS = 60;

export function createShopClient({ url, gate, journal, signal }: ShopOptions): ShopClient {
  const idempotentFetch = createIdempotentFetch({
    deadlineSeconds: DEADLINE_SECONDS,
    firstDelaySeconds: 0.2,
  });

  async function ask(order: PlannedOrder, options: AskOptions = {}): Promise<void> {
    const { otherBody, enter = gate.shared, onKey } = options;
    const { tenant, key, body } = order;
    const asked: Answer["asked"] = otherBody ? "other-body" : "order";
    const tryOnce = async (input: Request, init: RequestInit) => {
      journal.sent();
      const response = await fetch(input, init);
      await journal.answered({ tenant, key, asked }, response);
      return response;
    };
    try {
      const response = await idempotentFetch(`${url}/orders`, {
        method: "POST",
        headers: { authorization: `Bearer ${DEMO_TOKENS[tenant]}`, "content-type": "application/json" },
        body: JSON.stringify(otherBody ?? body),
        key,
        onKey,
        signal: options.signal ? AbortSignal.any([options.signal, signal]) : signal,
        fetch: (input, init) => enter(() => tryOnce(input, init)),
      });
      journal.ended({ tenant, key, asked }, { status: response.status });
    } catch (error) {
      if (options.signal?.aborted) return;
      journal.ended({ tenant, key, asked }, { failure: String(error) });
    }
  }

  return { ask };
}
