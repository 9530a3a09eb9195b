/** Entries that wait to be sent, in lines. Only the head of a line may go: that keeps the order. Pure. */
import { type Entry, MAX_ENTRIES } from "./entry.ts";

export interface Queued {
  readonly entry: Entry<unknown>;
}

export class GroupLines<Item extends Queued> {
  readonly #lines = new Map<unknown, Item[]>();
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(item: Item): void {
    const line = this.#lines.get(nameOf(item));
    if (line === undefined) this.#lines.set(nameOf(item), [item]);
    else line.push(item);
  }

  /**
   * The heads that fit into one request; empty when nobody waits. One of each line at most: a service may accept the
   * second of two entries and refuse the first. One that fits into no request goes alone, to be refused.
   */
  heads(): Item[] {
    const heads: Item[] = [];
    let bytes = 0;
    for (const [head] of this.#lines.values()) {
      bytes += head!.entry.bytes;
      if (heads.length === MAX_ENTRIES || (heads.length > 0 && bytes > this.#maxBytes)) break;
      heads.push(head!);
    }
    return heads;
  }

  /** The head has been sent: the next of its line may go. */
  advance(head: Item): void {
    const line = this.#lines.get(nameOf(head))!;
    line.shift();
    if (line.length === 0) this.#lines.delete(nameOf(head));
  }

  /** Takes the whole line of a head out, and answers with it: the head first. */
  stop(head: Item): readonly Item[] {
    const line = this.#lines.get(nameOf(head))!;
    this.#lines.delete(nameOf(head));
    return line;
  }

  /** Takes all lines out. */
  clear(): readonly Item[] {
    const all = [...this.#lines.values()].flat();
    this.#lines.clear();
    return all;
  }
}

function nameOf(item: Queued): unknown {
  return item.entry.line ?? item;
}
