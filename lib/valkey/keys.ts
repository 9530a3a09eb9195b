/** The store's keys. All keys of one record are in one slot of a cluster, so that one script can change them. */
import { hash } from "node:crypto";

/** Spreads the records over the nodes of a cluster. Each shard has a list of its unknown outcomes. */
const SHARDS = 256;

export interface RecordKeys {
  readonly record: string;
  /** The sorted set of the unknown outcomes of this shard. */
  readonly index: string;
}

export class ValkeyKeys {
  readonly #prefix: string;
  readonly #hashTag: string | undefined;

  constructor(prefix: string, hashTag: string | undefined) {
    this.#prefix = prefix;
    this.#hashTag = hashTag;
  }

  of(recordKey: string): RecordKeys {
    const tag = this.#hashTag ?? `${hash("sha256", recordKey, "buffer")[0]}`;
    return { record: `${this.#prefix}:{${tag}}:${recordKey}`, index: this.#indexOf(tag) };
  }

  /** The lists of all shards. */
  indexes(): readonly string[] {
    if (this.#hashTag !== undefined) return [this.#indexOf(this.#hashTag)];
    return Array.from({ length: SHARDS }, (_, shard) => this.#indexOf(`${shard}`));
  }

  /** Whether a key belongs to the store itself. */
  isOwn(key: string): boolean {
    return key.startsWith(`${this.#prefix}:{`);
  }

  /** No record has this key, because record keys contain a `#`. */
  #indexOf(tag: string): string {
    return `${this.#prefix}:{${tag}}:unsettled`;
  }
}
