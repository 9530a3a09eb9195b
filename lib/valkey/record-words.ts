/** The fields of a record as words of a command. No I/O. */
import type { IdempotencyRecord, StoredStep } from "../core/record.ts";
import type { Claim, Insertion, Settlement, StepChange } from "../core/store.ts";

/** Every claim that is refused reads all steps. A larger result has a field of its own, which only a replay reads. */
const MAX_STEP_CHARACTERS = 4096;

/** The longest text of a result, as in the other stores. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

type RecordFields = Readonly<Record<string, string | number | undefined>>;

/** A list with its length before it, as the script takes it. */
function listOf(fields: RecordFields): string[] {
  const words = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [name, `${value}`],
  );
  return [`${words.length}`, ...words];
}

export const flag = (is: unknown): string => (is ? "1" : "0");

/** What was seen: nothing, or the token, state and lease end of a record. */
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

/** What tells each write of a step from every other one: it stands before the rest of the field. */
const markOf = (step: Omit<StoredStep, "result"> | undefined): string =>
  step ? `${step.state} ${step.attempt} ${step.at}` : "";

export function stepWords({ name, step, result, seen }: StepChange<unknown>): string[] {
  const [text, lostBytes] = resultWords(result);
  const isApart = text !== undefined && text.length > MAX_STEP_CHARACTERS;
  // Names each write of a step: what lies there never changes.
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
