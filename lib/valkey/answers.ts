/** Reads the script's answers: lists of strings. */
import { RecordCorruptError } from "../core/errors.ts";
import { type IdempotencyRecord, STATES, type StoredResult, type StoredStep } from "../core/record.ts";
import { resultAddressOf } from "../core/result-address.ts";

/** Clients return strings, or bytes if configured so. @throws RecordCorruptError (`RECORD_CORRUPT`) */
export function textsOf(reply: unknown): readonly string[] {
  if (!Array.isArray(reply)) {
    throw new RecordCorruptError("the reply isn't an array: the client must return replies unchanged");
  }
  return reply.map((each) => (each instanceof Uint8Array ? Buffer.from(each).toString("utf8") : `${each}`));
}

/** The record in an answer, as a flat list of fields; `undefined` if there are none. */
export function readRecord(recordKey: string, fields: readonly string[]): IdempotencyRecord | undefined {
  if (fields.length === 0) return undefined;
  const values = new Map<string, string>();
  for (let index = 0; index < fields.length; index += 2)
    values.set(`${fields[index]}`, `${fields[index + 1]}`);
  const refuse = (field: string): never => {
    throw new RecordCorruptError(`field \`${field}\` is missing or out of range`);
  };
  const text = (field: string): string => values.get(field) ?? refuse(field);
  const number = (field: string): number => {
    const value = values.get(field);
    return value && Number.isFinite(Number(value)) ? Number(value) : refuse(field);
  };
  const state = STATES.find((each) => each === values.get("state")) ?? refuse("state");
  const isFinished = state === "completed" || state === "failed";
  const result = resultOf(values, () => resultAddressOf(recordKey, "result", text("token")), number);
  const steps = [...values].filter(([name]) => name.startsWith("s:"));
  return {
    version: number("version"),
    state,
    token: text("token"),
    attempt: number("attempt"),
    leaseEndsAt: number("lease"),
    fingerprint: text("fingerprint"),
    createdAt: number("created"),
    ...(isFinished && { completedAt: number("settled") }),
    ...(values.has("expires") && { expiresAt: number("expires") }),
    ...(values.has("evidence") && { evidence: text("evidence") }),
    ...(steps.length > 0 && {
      steps: Object.fromEntries(
        steps.map(([name, value]) => [name.slice(2), readStep(recordKey, value) ?? refuse("steps")]),
      ),
    }),
    ...(result && { result }),
  };
}

function resultOf(
  values: ReadonlyMap<string, string>,
  address: () => string,
  number: (field: string) => number,
): StoredResult | undefined {
  const text = values.get("result");
  if (text !== undefined) return { in: "record", text };
  if (values.has("bytes")) return { in: "item", address: address() };
  return values.has("lost") ? { in: "nowhere", bytes: number("lost") } : undefined;
}

function readStep(recordKey: string, value: string): StoredStep | undefined {
  const [mark = "", rest = ""] = value.split(/\n(.*)/s);
  const [, state, attempt, at] = /^(begun|done|undone) (\S+) (\S+)$/.exec(mark) ?? [];
  if (state === undefined || !Number.isFinite(Number(attempt)) || !Number.isFinite(Number(at)))
    return undefined;
  let json: Readonly<Record<string, unknown>>;
  try {
    json = Object(JSON.parse(rest));
  } catch {
    return undefined;
  }
  const result = stepResultOf(recordKey, json);
  return {
    state: state as StoredStep["state"],
    attempt: Number(attempt),
    at: Number(at),
    ...(json.tracked === true && { tracked: true }),
    ...(typeof json.next === "string" && { next: json.next }),
    ...(json.undo === true && { undo: true }),
    ...(json.undoNext === true && { undoNext: true }),
    ...(result && { result }),
  };
}

/** The address contains a field, and the token that the record must still have. */
function stepResultOf(
  recordKey: string,
  { result, apart, lostBytes }: Readonly<Record<string, unknown>>,
): StoredResult | undefined {
  if (typeof result === "string") return { in: "record", text: result };
  if (typeof apart === "string") return { in: "item", address: resultAddressOf(recordKey, `r:${apart}`, "") };
  return typeof lostBytes === "number" ? { in: "nowhere", bytes: lostBytes } : undefined;
}
