/** Entries that wait to be sent, in lines. Only the head of a line may go: that keeps the order. Pure. */
import { type Entry, MAX_ENTRIES } from "./entry.ts";

/** An entry and its position among those that were given. */
export interface Waiting<Form> {
  readonly position: number;
  readonly entry: Entry<Form>;
}

export class GroupLines<Form> {
  readonly #lines = new Map<string | number, Waiting<Form>[]>();
  readonly #maxBytes: number;

  constructor(entries: readonly Entry<Form>[], maxBytes: number) {
    this.#maxBytes = maxBytes;
    for (const [position, entry] of entries.entries()) {
      const waiting = { position, entry };
      const line = this.#lines.get(nameOf(waiting));
      if (line === undefined) this.#lines.set(nameOf(waiting), [waiting]);
      else line.push(waiting);
    }
  }

  /**
   * The heads that fit into one request; empty when nobody waits. One of each line at most: a service may accept the
   * second of two entries and refuse the first. One that fits into no request goes alone, to be refused.
   */
  heads(): Waiting<Form>[] {
    const heads: Waiting<Form>[] = [];
    let bytes = 0;
    for (const [head] of this.#lines.values()) {
      bytes += head!.entry.bytes;
      if (heads.length === MAX_ENTRIES || (heads.length > 0 && bytes > this.#maxBytes)) break;
      heads.push(head!);
    }
    return heads;
  }

  /** The head has been sent: the next of its line may go. */
  advance(head: Waiting<Form>): void {
    const line = this.#lines.get(nameOf(head))!;
    line.shift();
    if (line.length === 0) this.#lines.delete(nameOf(head));
  }

  /** Nobody of this line is sent any more. */
  stop(head: Waiting<Form>): void {
    this.#lines.delete(nameOf(head));
  }
}

function nameOf({ position, entry }: Waiting<unknown>): string | number {
  return entry.line ?? position;
}
