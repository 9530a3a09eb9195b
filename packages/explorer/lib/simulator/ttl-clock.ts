/** Deletes expired items in time even if no call comes, because the stream reports the deletions. */
import type { DynamoDBModel } from "../aws/dynamodb/dynamodb-model.ts";
import type { VirtualTime } from "./virtual-time.ts";

export class TtlClock {
  readonly #time: VirtualTime;
  readonly #model: DynamoDBModel;
  readonly #lagMs: number;
  readonly #onDeletion: () => void;
  #dueAt = Number.POSITIVE_INFINITY;
  #cancel: () => void = () => undefined;

  constructor(time: VirtualTime, model: DynamoDBModel, lagSeconds: number, onDeletion: () => void) {
    this.#time = time;
    this.#model = model;
    this.#lagMs = lagSeconds * 1000;
    this.#onDeletion = onDeletion;
  }

  /** An item was written, and may expire before all others. */
  look(): void {
    const dueAt = Math.ceil(this.#model.soonestExpiry() + this.#lagMs);
    if (dueAt >= this.#dueAt) return;
    this.#cancel();
    this.#dueAt = dueAt;
    this.#cancel = this.#time.after(dueAt - this.#time.now(), () => this.#delete());
  }

  #delete(): void {
    this.#dueAt = Number.POSITIVE_INFINITY;
    if (this.#model.expire() > 0) this.#onDeletion();
    this.look();
  }
}
