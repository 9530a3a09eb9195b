/** Deletes what has expired when its time has come, whether somebody looks or not: the stream tells of it then. */
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

  /** Something was written: it may expire before all else. */
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
