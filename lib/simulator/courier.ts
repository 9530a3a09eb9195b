/** Brings to subscribers what topics and buses have for them: after a while, in order where an order is promised. */
import type { Activities } from "./activities.ts";
import { type Scene, within } from "./scene.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { Trace } from "./trace.ts";
import type { VirtualTime } from "./virtual-time.ts";

export interface CourierOptions {
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly random: SeededRandom;
  readonly activities: Activities;
  /** Where subscribers are brought what they get. */
  readonly outside: () => Scene;
}

export interface Errand {
  /** From where to where. */
  readonly label: string;
  /** Errands of one line are run one after the other. */
  readonly line?: string | undefined;
  /** The part of errands that are run twice. */
  readonly repeats: number;
  /** @throws Error when the subscriber refuses it for good */
  readonly run: () => Promise<unknown>;
}

/** How long it takes, in ms. */
const ON_THE_WAY_MS = [10, 200] as const;
const AGAIN_AFTER_MS = [0, 5000] as const;

export class Courier {
  readonly #options: CourierOptions;
  readonly #lines = new Map<string, Promise<void>>();

  constructor(options: CourierOptions) {
    this.#options = options;
  }

  send(errand: Errand): void {
    const { time, random } = this.#options;
    const delayMs = random.between(...ON_THE_WAY_MS);
    const isRepeated = errand.repeats > 0 && random.fraction() < errand.repeats;
    const againMs = isRepeated ? random.between(...AGAIN_AFTER_MS) : undefined;
    const before = errand.line === undefined ? undefined : this.#lines.get(errand.line);
    const ended = this.#underWay(async () => {
      await time.sleep(delayMs);
      await before;
      await this.#run(errand);
    });
    if (errand.line !== undefined) this.#lines.set(errand.line, ended);
    if (againMs === undefined) return;
    void this.#underWay(async () => {
      await ended;
      await time.sleep(againMs);
      await this.#run(errand);
    });
  }

  async #underWay(work: () => Promise<void>): Promise<void> {
    const end = this.#options.activities.begin();
    try {
      await within(this.#options.outside(), work);
    } finally {
      end();
    }
  }

  /** What is refused is lost: nothing here has a dead-letter queue. */
  async #run({ label, run }: Errand): Promise<void> {
    const note = (text: string) =>
      this.#options.trace.note({ kind: "source", hostId: label, invocation: undefined, text });
    try {
      await run();
      note("delivers");
    } catch (error) {
      note(`loses a message: ${String(error)}`);
    }
  }
}
