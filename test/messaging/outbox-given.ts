// The orders of one test, in message groups that no other test has.
import { randomUUID } from "node:crypto";
import { failEntries, WRONG } from "../kit/faults/faulty-sqs.ts";
import type { OutboxWorld } from "./outbox-world.ts";

export type OutboxRun = ReturnType<typeof newRun>;

/** Messages and groups are named by their ends: `a1` is the first message of group `a`, and of an order with that key. */
export function newRun(world: OutboxWorld) {
  const prefix = `${randomUUID()}-`;
  const named = (...ends: string[]) => ends.map((end) => `${prefix}${end}`);

  return {
    prefix,
    named,

    /** An order for each, which commits one message, a millisecond after the other. */
    async order(...ends: string[]): Promise<void> {
      for (const name of named(...ends)) {
        await world.order({ key: name, messages: [world.message(name)] });
        await world.clock.advance(1);
      }
    },

    /** Whether these orders wait for their messages to be sent. */
    unsent: (...ends: string[]) => Promise.all(named(...ends).map((name) => world.isUnsent(name))),

    /** The effects of these groups, one group after the other. */
    effects: async (...groups: string[]): Promise<string[]> =>
      (await Promise.all(named(...groups).map((group) => world.effectsOf(group)))).flat(),

    /** From now on the queue refuses these messages, and no others. */
    refuse(...ends: string[]): void {
      const refused = named(...ends);
      failEntries(world.sqs, ({ MessageBody }) =>
        refused.includes(String(MessageBody)) ? WRONG : undefined,
      );
    },
  };
}
