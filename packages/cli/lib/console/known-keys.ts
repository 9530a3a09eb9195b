/** The keys of records that the console has looked at, by their hash: the page asks by hash alone. */
import { namesOf } from "onceonly/kit";
import type { OpenTable } from "../open-table.ts";

export interface KnownKey {
  readonly table: OpenTable;
  readonly recordKey: string;
}

export interface KnownKeys {
  remember(table: OpenTable, recordKey: string): void;
  get(keyHash: string): KnownKey | undefined;
}

const MAX_KNOWN = 20_000;

export function knownKeys(): KnownKeys {
  const known = new Map<string, KnownKey>();
  return {
    remember(table, recordKey) {
      const { keyHash } = namesOf(recordKey);
      known.delete(keyHash);
      known.set(keyHash, { table, recordKey });
      if (known.size > MAX_KNOWN) known.delete(known.keys().next().value!);
    },
    get: (keyHash) => known.get(keyHash),
  };
}
