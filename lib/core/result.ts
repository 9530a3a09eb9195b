/** Results and final errors as text. Encoded before the first caller is answered, so that first = replay. */
import {
  PermanentError,
  RecordCorruptError,
  ResponseNotStorableError,
  ResultNotKeptError,
} from "./errors.ts";
import { findUnfaithful } from "./json.ts";
import type { Operation } from "./operation.ts";
import type { IdempotencyRecord } from "./record.ts";

/**
 * `undefined` stays absent; anything else becomes JSON. Properties that are `undefined` are left out, for
 * the first caller too.
 * @throws ResponseNotStorableError (`RESPONSE_NOT_STORABLE`) for what JSON would change or cannot hold.
 */
export function encodeResult(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const fault = findUnfaithful(value);
  if (fault !== undefined) {
    throw new ResponseNotStorableError(`the result cannot be stored: ${fault.path} is ${fault.why}`);
  }
  return JSON.stringify(value);
}

export function decodeResult(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Without the parser's error as its cause: that repeats a part of the text.
    throw new RecordCorruptError("the stored result is not JSON");
  }
}

/** The text of a finished record's result, wherever it is. */
export async function readResult<Write>(
  record: IdempotencyRecord,
  operation: Operation<Write>,
): Promise<string | undefined> {
  const { result } = record;
  if (result === undefined) return undefined;
  if (result.in === "record") return result.text;
  if (result.in === "nowhere") throw new ResultNotKeptError(result.bytes);
  const text = await operation.ask((store) => store.loadResult(result.address));
  if (text === undefined) throw new RecordCorruptError("the item that holds the stored result is gone");
  return text;
}

/** The properties of an error that are kept: a caller can see them. Stacks, causes and others are not kept. */
const KEPT = [
  ["name", /string/],
  ["message", /string/],
  ["code", /string|number|boolean/],
  ["statusCode", /string|number|boolean/],
  ["expose", /string|number|boolean/],
] as const;

/** Never throws, whatever was thrown. `isOurs`: onceonly made it about this call, the handler only passed it on. */
export function encodeError(error: unknown, isOurs: boolean): string {
  const stored: Record<string, unknown> = {
    name: "Error",
    message: Object(error) === error ? "an object was thrown" : String(error),
    isOurs: isOurs || undefined,
  };
  for (const [name, kinds] of KEPT) {
    try {
      const value = (error as Record<string, unknown>)[name];
      if (kinds.test(typeof value)) stored[name] = value;
    } catch {
      // Nothing to read it from, or a getter that throws.
    }
  }
  return JSON.stringify(stored);
}

/**
 * A `PermanentError` that carries name, message, code and status of the error that was recorded. Its code says nothing of
 * who made it: that is `isOurs`.
 */
export function decodeError(text: string | undefined): { error: PermanentError; isOurs: boolean } {
  const stored = decodeResult(text) as { message?: unknown; isOurs?: unknown } | undefined;
  if (typeof stored?.message !== "string") throw new RecordCorruptError("the stored error cannot be read");
  const { isOurs, ...kept } = stored;
  return { error: Object.assign(new PermanentError(stored.message), kept), isOurs: isOurs === true };
}
