/** Which event buses are there. EventBridge takes an event for a bus that is not, and drops it without a word. */
import type { Address } from "../core/address.ts";

/** Every account has it in every Region, and nobody can delete it. */
const DEFAULT_BUS = "default";

export class KnownBuses {
  readonly #describe: (bus: Address) => Promise<unknown>;
  readonly #warn: (warning: Error) => void;
  readonly #asked = new Map<string, Promise<void>>();

  /** @param describe rejects with `ResourceNotFoundException` for a bus that is not there. */
  constructor(describe: (bus: Address) => Promise<unknown>, warn: (warning: Error) => void) {
    this.#describe = describe;
    this.#warn = warn;
  }

  /**
   * Resolves for a bus that is there, or that nobody may ask about, which is told. Asks once for each bus.
   * @throws what the question failed with; the next time it is asked again.
   */
  check(bus: Address): Promise<void> {
    if (bus.text === DEFAULT_BUS) return Promise.resolve();
    const asked = this.#asked.get(bus.text) ?? this.#ask(bus);
    this.#asked.set(bus.text, asked);
    asked.catch(() => this.#asked.delete(bus.text));
    return asked;
  }

  async #ask(bus: Address): Promise<void> {
    try {
      await this.#describe(bus);
    } catch (cause) {
      if ((cause as { name?: unknown } | null)?.name !== "AccessDeniedException") throw cause;
      const why = "it is not known whether an event bus is there, and its events may be lost: grant";
      tell(this.#warn, new Error(`${why} events:DescribeEventBus`, { cause }));
    }
  }
}

function tell(warn: (warning: Error) => void, warning: Error): void {
  try {
    warn(warning);
  } catch {
    // Watching does not change an outcome.
  }
}
