// Lets clients in, one order after the other, and knows how far each of them is.

import { until } from "../../../../test/kit/time/until.ts";
import { createGate, type Gate } from "./gate.ts";
import type { Journal } from "./journal.ts";
import type { PlannedOrder } from "./plan.ts";
import { playOrder, type Scenery } from "./scenes.ts";
import { createShopClient } from "./shop-client.ts";
import type { Stage } from "./stage.ts";

export interface PlayersOptions extends Pick<Scenery, "faults" | "signal"> {
  readonly stage: Pick<Stage, "url" | "orderFunction" | "queues">;
  readonly journal: Journal;
  /** @default one with REQUESTS_AT_ONCE places */
  readonly gate?: Gate | undefined;
}

export interface Players {
  /**
   * Lets the clients of these orders in. Resolves when each order is committed, as far as it ever is; its other clients
   * may still be waiting for their answers.
   */
  letIn(orders: readonly PlannedOrder[]): Promise<void>;
  /** Resolves when all clients have their answers. */
  allAnswered(): Promise<void>;
  /** Orders whose clients have their answers. */
  readonly answered: number;
}

/** Each uses a process of the function; more of them would only wait for a processor. */
const REQUESTS_AT_ONCE = 8;
/** As long as a client asks. */
const PATIENCE_SECONDS = 60;

export function createPlayers(options: PlayersOptions): Players {
  const { stage, journal, faults, signal, gate = createGate(REQUESTS_AT_ONCE) } = options;
  const { url, orderFunction, queues } = stage;
  const client = createShopClient({ url, gate, journal, signal });
  const scenery = { client, gate, faults, journal, orderFunction, queues, signal };
  const playing: Promise<void>[] = [];
  const done = new Set<PlannedOrder>();

  return {
    async letIn(orders) {
      for (const order of orders) {
        // Clients arrive as fast as the service accepts them: a key's first try does not wait long for its turn.
        await gate.turn();
        signal.throwIfAborted();
        const answered = playOrder(order, scenery).then(() => void done.add(order));
        // Reported by `allAnswered`.
        answered.catch(() => undefined);
        playing.push(answered);
      }
      const isCommitted = (order: PlannedOrder) => journal.orderIdOf(order) !== undefined || done.has(order);
      await until(() => orders.every(isCommitted), { seconds: PATIENCE_SECONDS, signal });
    },
    async allAnswered() {
      await Promise.allSettled(playing);
      await Promise.all(playing);
      signal.throwIfAborted();
    },
    get answered() {
      return done.size;
    },
  };
}
