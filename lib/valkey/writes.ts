/** The caller's own commands in a commit, in one script with the record's change. */
import { isStoreFailure } from "../core/error-code.ts";
import { CommitInvalidError } from "../core/errors.ts";
import type { Effects } from "../core/store.ts";
import { slotOf } from "./slot.ts";

/** Commands that write one key, which follows their name. */
const COMMANDS = [
  "APPEND",
  "DECRBY",
  "DEL",
  "HDEL",
  "HINCRBY",
  "HINCRBYFLOAT",
  "HSET",
  "INCRBY",
  "INCRBYFLOAT",
  "LPUSH",
  "RPUSH",
  "SADD",
  "SET",
  "SREM",
  "XADD",
  "ZADD",
  "ZINCRBY",
  "ZREM",
] as const;

const MAX_WRITES = 100;
/** The most words that Lua can pass on in one call. */
const MAX_WORDS = 1000;

/**
 * One write in a commit: one command with one key, and a condition about that key before the commit. All writes are applied
 * together with the record, or none. In a cluster, the store needs a `hashTag` and the key must contain it. A command with an
 * empty reply, such as a failed `SET … NX`, counts as a condition that was not met.
 */
export interface ValkeyWrite {
  /** Such as `["HSET", "order:1", "state", "paid"]`. */
  readonly command: readonly [name: (typeof COMMANDS)[number], key: string, ...words: (string | number)[]];
  /** Otherwise the commit is refused: TransactionConditionError (`TRANSACTION_CONDITION`). @default - no condition */
  readonly onlyIf?: "absent" | "present";
}

/** @throws CommitInvalidError (`COMMIT_INVALID`) */
export function checkValkeyWrites(
  { writes, messages }: Effects<unknown>,
  isOwn: (key: string) => boolean,
): void {
  if (messages.length > 0) {
    throw new CommitInvalidError(
      `a ValkeyStore has no outbox, so no relay would send the messages of a commit: leave \`messages\` out, and XADD to your own stream in \`writes\``,
    );
  }
  if (writes.length > MAX_WRITES) {
    throw new CommitInvalidError(`a commit can have at most ${MAX_WRITES} writes (got ${writes.length})`);
  }
  for (const [index, write] of writes.entries()) {
    const fault = faultOf(write, isOwn);
    if (fault) throw new CommitInvalidError(`writes[${index}] ${fault}`, { index });
  }
}

function faultOf(write: unknown, isOwn: (key: string) => boolean): string | undefined {
  const { command, onlyIf, ...unknown } = Object(write) as Record<string, unknown>;
  if (!Array.isArray(command) || Object.keys(unknown).length > 0) {
    return 'must have a command, and at most a condition: { command: ["SET", key, value], onlyIf: "absent" }';
  }
  const [name, key, ...words] = command;
  if (!COMMANDS.includes(name)) return `must have one of the commands ${COMMANDS.join(", ")}`;
  if (typeof key !== "string" || key === "")
    return "must have a key (a string) after the name of its command";
  if (isOwn(key)) return "writes a key that belongs to the store itself";
  if (onlyIf !== undefined && onlyIf !== "absent" && onlyIf !== "present") {
    return 'must have the condition "absent" or "present", or none';
  }
  if (name === "DEL" ? words.length > 0 : words.length === 0 || words.length > MAX_WORDS) {
    return name === "DEL" ? "deletes one key" : `must have 1 to ${MAX_WORDS} words after its key`;
  }
  const isWord = (word: unknown) =>
    typeof word === "string" ? word.isWellFormed() : Number.isFinite(word as number);
  return words.every(isWord)
    ? undefined
    : "must have words that are strings without lone surrogates, or finite numbers";
}

/**
 * In a cluster, one script can't change keys in different slots. This is checked before anything is sent, because each retry
 * would run the handler again only to fail in the same way.
 * @throws CommitInvalidError (`COMMIT_INVALID`)
 */
export function checkSlots(writes: readonly ValkeyWrite[], recordKey: string): void {
  const slot = slotOf(recordKey);
  const index = writes.findIndex(({ command: [, key] }) => slotOf(key) !== slot);
  if (index >= 0) throw crossSlotRefusal(undefined, index);
}

/** Nothing was written, and a retry won't change that. */
export function crossSlotRefusal(cause: unknown, index?: number): CommitInvalidError {
  const which = index === undefined ? "`writes` have keys" : `writes[${index}] has a key`;
  return new CommitInvalidError(
    `${which} outside the record's slot of the cluster (CROSSSLOT), and nothing was written: set \`hashTag\` on the store, and use it in the keys of \`writes\`, such as {shop}:stock:7 with the hashTag shop`,
    { index, cause },
  );
}

export const longest = (words: readonly (string | number)[]): number =>
  words.reduce<number>((most, word) => Math.max(most, Buffer.byteLength(`${word}`)), 0);

/**
 * A server that refuses a long word doesn't say which one. The longest word is to blame: the record's, or one of a write.
 * @param others the length of the record's longest word
 */
export function blameLongWrite(error: unknown, writes: readonly ValkeyWrite[] = [], others: number): unknown {
  if (!isStoreFailure(error) || !error.refusesContent) return error;
  const lengths = writes.map(({ command }) => longest(command));
  const most = Math.max(...lengths);
  if (most <= others) return error;
  const index = lengths.indexOf(most);
  return new CommitInvalidError(
    `the server refuses writes[${index}] (a word of ${most} bytes): nothing was written; make it shorter, or raise \`proto-max-bulk-len\``,
    { index, cause: error.cause },
  );
}

/** The keys of the writes, and the arguments that encode the rest for the script. */
export function writeWords(writes: readonly ValkeyWrite[]): { keys: string[]; words: string[] } {
  return {
    keys: writes.map(({ command: [, key] }) => key),
    words: [
      `${writes.length}`,
      ...writes.flatMap(({ command: [name, , ...words], onlyIf = "" }) => [
        name,
        onlyIf,
        `${words.length}`,
        ...words.map(String),
      ]),
    ],
  };
}
