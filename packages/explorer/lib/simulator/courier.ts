/** Delivers the messages of topics and buses after a while, in order if order is promised. */
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
  /** The scene in which subscribers get their messages. */
  readonly outside: () => Scene;
}

export interface Errand {
  /** The sender and the subscriber. */
  readonly label: string;
  /** Errands of one line run one after the other. */
  readonly line?: string | undefined;
  /** The share of errands that run twice. */
  readonly repeats: number;
  /** @throws Error when the subscriber refuses the message for good */
  readonly run: () => Promise<unknown>;
}

/** The duration of the delivery, in ms. */
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

  /** A rejected message is lost: the simulation's subscriptions have no dead-letter queue. */
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
