/** The keys of records that the console has looked at, by their hash: the page asks by hash alone. */
import { type ChildKeyLimits, deriveChildKey, hasCode, namesOf } from "onceonly/kit";
import { UsageError } from "../command.ts";
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

/**
 * The key that the handler passes on as `childKey(name)`; `undefined` for a key that isn't known.
 * @throws UsageError for a name or limits that no child key can have
 */
export function childKeyOf(
  known: KnownKeys,
  keyHash: string,
  name: string,
  limits: ChildKeyLimits,
): string | undefined {
  const recordKey = known.get(keyHash)?.recordKey;
  if (recordKey === undefined) return undefined;
  try {
    return deriveChildKey({ recordKey }, name, limits);
  } catch (error) {
    throw hasCode(error, "INVALID_OPTION") ? new UsageError((error as Error).message) : error;
  }
}
