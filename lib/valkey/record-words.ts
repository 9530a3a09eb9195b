/** A record's fields as command arguments. No I/O. */
import type { IdempotencyRecord, StoredStep } from "../core/record.ts";
import type { Claim, Insertion, Settlement, StepChange } from "../core/store.ts";

/** Every refused claim reads all steps. A larger result gets a separate field that only a replay reads. */
const MAX_STEP_CHARACTERS = 4096;

/** The longest result text, as in the other stores. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

type RecordFields = Readonly<Record<string, string | number | undefined>>;

/** A list preceded by its length, which is the script's format. */
function listOf(fields: RecordFields): string[] {
  const words: string[] = [];
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value !== undefined) words.push(name, `${value}`);
  }
  return [`${words.length}`, ...words];
}

export const flag = (is: unknown): string => (is ? "1" : "0");

/** The state that was seen: nothing, or the token, state and lease end of a record. */
export const seenWords = (seen: IdempotencyRecord | undefined): string[] =>
  seen ? [seen.token, seen.state, `${seen.leaseEndsAt}`] : ["", "", ""];

export function beginningWords(
  beginning: Claim | Insertion<unknown>,
  state: IdempotencyRecord["state"],
): string[] {
  const { token, attempt, fingerprint, createdAt, expiresAt } = beginning;
  return listOf({
    state,
    token,
    attempt,
    lease: "now" in beginning ? beginning.now : beginning.leaseEndsAt,
    fingerprint,
    created: createdAt,
    expires: expiresAt,
  });
}

export function endWords({
  state,
  now,
  expiresAt,
  evidence,
  result,
}: Settlement<unknown> | Insertion<unknown>): string[] {
  const [text, lost] = resultWords(result);
  return listOf({ state, settled: now, expires: expiresAt, evidence, result: text, lost });
}

/** Distinguishes each write of a step from every other one: it precedes the rest of the field. */
const markOf = (step: Omit<StoredStep, "result"> | undefined): string =>
  step ? `${step.state} ${step.attempt} ${step.at}` : "";

export function stepWords({ name, step, result, seen }: StepChange<unknown>): string[] {
  const [text, lostBytes] = resultWords(result);
  const isApart = text !== undefined && text.length > MAX_STEP_CHARACTERS;
  // Identifies each write of a step: the value there never changes.
  const apart = isApart ? `${step.attempt}/${step.at}/${name}` : undefined;
  const { state, attempt, at, ...marks } = step;
  const rest = JSON.stringify({ ...marks, result: isApart ? undefined : text, apart, lostBytes });
  const fields = { [`s:${name}`]: `${markOf(step)}\n${rest}`, ...(isApart && { [`r:${apart}`]: text }) };
  return [...listOf(fields), markOf(step), markOf(seen)];
}

export function resultWords(
  result: string | undefined,
): [text: string | undefined, lost: number | undefined] {
  if (result === undefined) return [undefined, undefined];
  const bytes = Buffer.byteLength(result);
  return bytes <= MAX_KEPT_BYTES ? [result, undefined] : [undefined, bytes];
}
