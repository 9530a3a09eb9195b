/** Reads the arguments of `commit`. A wrong argument is refused before anything is written. */
import { CommitInvalidError } from "./errors.ts";
import type { CommitEffects } from "./execution.ts";
import { isPlainObject } from "./json.ts";
import { kindOf } from "./kind-of.ts";
import type { OutgoingMessage } from "./messages/outgoing-message.ts";
import { suggestion } from "./nearest.ts";
import type { WritesOf } from "./store.ts";

/** The effects of a commit as two lists, which the handler can no longer change. */
interface ListedEffects<Write> {
  readonly writes: readonly Write[];
  readonly messages: readonly OutgoingMessage[];
}

/** @throws CommitInvalidError (`COMMIT_INVALID`) for effects with another shape, or in the place of the result */
export function readCommit<Write>(
  result: unknown,
  effects: CommitEffects<Write> | undefined,
): ListedEffects<Write> {
  if (effects === undefined && isEffectsAlone(result)) {
    throw new CommitInvalidError(
      "commit expects the result first, then { writes, messages } (got only { writes, messages }): pass `undefined` as the result, or add `{}` as the second argument if this object is the result",
    );
  }
  return readEffects(effects === undefined ? {} : effects);
}

/** Effects in the place of the result would be stored, and never happen. */
function isEffectsAlone(result: unknown): boolean {
  const fields = isPlainObject(result) ? Object.entries(Object(result) as object) : [];
  const isEffect = ([name, value]: readonly [string, unknown]) =>
    /^(writes|messages)$/.test(name) &&
    (value === undefined || Array.isArray(value) || typeof value === "function");
  return fields.length > 0 && fields.every(isEffect);
}

/**
 * A misspelt or misplaced effect would be lost silently, so any other shape is refused.
 * @throws CommitInvalidError (`COMMIT_INVALID`)
 */
function readEffects<Write>(effects: CommitEffects<Write>): ListedEffects<Write> {
  // A promise, a list or a map holds no visible effects.
  if (!isPlainObject(effects)) {
    throw new CommitInvalidError(
      `commit expects the result first, then { writes, messages } (got ${kindOf(effects)} as the second argument): leave it out if there are none`,
    );
  }
  const { writes, messages, ...unknown } = effects;
  const [name] = Object.keys(unknown);
  if (name !== undefined) {
    throw new CommitInvalidError(
      `\`${name}\` isn't a field of a commit ${suggestion(name, ["writes", "messages"], "valid fields")}`,
    );
  }
  return { writes: listOf<Write>("writes", writes), messages: listOf("messages", messages) };
}

/**
 * Copies the list, so that the handler may change its own later. Holes become `undefined`, which is refused because it isn't a
 * write.
 */
function listOf<Each>(name: string, list: WritesOf<Each> = []): readonly Each[] {
  if (typeof list === "function") return [list];
  if (Array.isArray(list)) return Array.from(list);
  throw new CommitInvalidError(
    `\`${name}\` of a commit must be an array (got ${kindOf(list)}): leave \`${name}\` out if there are none`,
  );
}
