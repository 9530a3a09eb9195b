/** The message groups in which something could not be sent: what comes after it in them has to wait. Pure. */
import { destinationOf } from "../core/address.ts";
import type { Unsent } from "../core/outbox.ts";

export class BlockedLines {
  readonly #blocked = new Set<string>();

  /** What comes after this commit, in any of its groups, waits. */
  block(commit: Unsent): void {
    for (const line of linesOf(commit)) this.#blocked.add(line);
  }

  /** Whether this commit has to wait; then what comes after it waits with it. */
  holdUp(commit: Unsent): boolean {
    const isHeldUp = linesOf(commit).some((line) => this.#blocked.has(line));
    if (isHeldUp) this.block(commit);
    return isHeldUp;
  }
}

/** What its messages keep an order in: a group of a FIFO destination. Nothing waits elsewhere. */
function linesOf({ messages }: Unsent): string[] {
  return messages.flatMap((message) => {
    const { queue, topic, group } = message;
    const isFifo = (queue ?? topic)?.endsWith(".fifo");
    return isFifo && group !== undefined ? JSON.stringify([destinationOf(message), group]) : [];
  });
}
