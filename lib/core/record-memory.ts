/** Keeps finished records in the process for a short time: bounded in time, number and bytes. */
import type { Clock } from "./clock.ts";

interface KeptValue {
  readonly value: unknown;
  readonly bytes: number;
  /** Epoch ms. */
  readonly since: number;
}

export interface MemoryBounds {
  readonly rememberSeconds: number;
  readonly maxRecords: number;
  readonly maxBytes: number;
  readonly clock: Clock;
}

/** The memory that each value needs in addition to its text. */
const AROUND_BYTES = 1000;

export class RecordMemory {
  readonly #bounds: MemoryBounds;
  /** The oldest first. */
  readonly #kept = new Map<string, KeptValue>();
  #bytes = 0;

  constructor(bounds: MemoryBounds) {
    this.#bounds = bounds;
  }

  /** `undefined` if nothing is kept, or it is too old. */
  get(name: string): unknown {
    const { rememberSeconds, clock } = this.#bounds;
    const kept = this.#kept.get(name);
    if (!kept) return undefined;
    const age = clock.now() - kept.since;
    // If the clock was set back, the age is unknown.
    if (age >= 0 && age < rememberSeconds * 1000) return kept.value;
    this.forget(name);
    return undefined;
  }

  /** @param since when it was requested (epoch ms): a process may have been frozen before the answer */
  keep(name: string, value: unknown, text: string, since: number): void {
    const { maxRecords, maxBytes } = this.#bounds;
    this.forget(name);
    const bytes = AROUND_BYTES + 2 * text.length;
    if (bytes > maxBytes) return;
    this.#kept.set(name, { value, bytes, since });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= maxRecords && this.#bytes <= maxBytes) break;
      this.forget(oldest);
    }
  }

  clear(): void {
    this.#kept.clear();
    this.#bytes = 0;
  }

  forget(name: string): void {
    this.#bytes -= this.#kept.get(name)?.bytes ?? 0;
    this.#kept.delete(name);
  }
}
