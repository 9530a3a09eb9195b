/** What the page asks about one key that it has looked at, the same for a table and for a local run. */
import { type Clock, deriveChildKey, hasCode, identify } from "onceonly/kit";
import { UsageError } from "../command.ts";
import { bodiesOf } from "../message-acts.ts";
import { isRecordKey } from "../named-key.ts";
import type { AskedKey, ConsoleSource } from "./console-source.ts";
import { lifeOf } from "./key-life.ts";
import type { KnownKeys } from "./known-keys.ts";

export function keyQuestions(
  known: KnownKeys,
  clock: Pick<Clock, "now">,
): Pick<ConsoleSource, "lifeOf" | "childKeyOf" | "bodiesOf"> {
  return {
    async lifeOf(keyHash) {
      const found = known.get(keyHash);
      return found && lifeOf(found.table, found.recordKey, clock);
    },
    childKeyOf(keyHash, name, limits) {
      const recordKey = known.get(keyHash)?.recordKey;
      if (recordKey === undefined) return undefined;
      try {
        return deriveChildKey({ recordKey }, name, limits);
      } catch (error) {
        throw hasCode(error, "INVALID_OPTION") ? new UsageError((error as Error).message) : error;
      }
    },
    async bodiesOf(keyHash) {
      const found = known.get(keyHash);
      const commit = await found?.table.outbox.load(found.recordKey);
      return bodiesOf(commit ? { commit } : {});
    },
  };
}

/** @throws UsageError, IdempotencyKeyInvalidError, ScopeMissingError */
export function recordKeyIn({ operation, scope, key }: AskedKey): string {
  if (operation !== "") return identify(operation, scope, key).recordKey;
  if (isRecordKey(key) && scope === "") return key;
  throw new UsageError(
    "enter the operation of the key; or only a whole record key, which contains operation and scope",
  );
}
