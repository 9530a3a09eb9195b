/** The effects that a handler gives to `commit` beside its result. */
import { CommitInvalidError } from "../errors.ts";
import { isPlainObject } from "../json.ts";
import type { OutgoingMessage } from "./outgoing-message.ts";

/** The effects that a commit brings about together with its result. */
export interface CommitEffects<Write = unknown> {
  /** @default - none */
  readonly writes?: readonly Write[];
  /** @default - none */
  readonly messages?: readonly OutgoingMessage[];
}

/**
 * A misspelt or misplaced effect would be lost without a word, so any other shape is refused.
 * @throws CommitInvalidError (`COMMIT_INVALID`)
 */
export function readEffects<Write>(effects: CommitEffects<Write>): Required<CommitEffects<Write>> {
  // A promise, a list or a map holds no visible effects.
  if (!isPlainObject(effects)) {
    throw new CommitInvalidError(
      `commit takes the result, then { writes, messages }; got ${kindOf(effects)}: leave it out where there are none`,
    );
  }
  const { writes, messages, ...unknown } = effects;
  const [name] = Object.keys(unknown);
  if (name !== undefined) {
    throw new CommitInvalidError(`commit knows no \`${name}\`: it takes { writes, messages }`);
  }
  return { writes: listOf("writes", writes), messages: listOf("messages", messages) };
}

/** Copies the list, so that the handler may change its own later. Holes become `undefined`, which is refused as no write. */
function listOf<Each>(name: string, list: readonly Each[] | undefined): readonly Each[] {
  if (list === undefined) return [];
  if (Array.isArray(list)) return Array.from(list);
  throw new CommitInvalidError(
    `the ${name} of a commit must be an array, got ${kindOf(list)}: leave \`${name}\` out where there are none`,
  );
}

function kindOf(value: unknown): string {
  if (value === null || typeof value !== "object") return value === null ? "null" : `a ${typeof value}`;
  return Array.isArray(value) ? "an array" : `a ${value.constructor?.name || "class instance"}`;
}
