/** A fingerprint of some fields of a JSON payload, for senders that change the other fields from delivery to delivery. */
import { InvalidOptionError, PayloadInvalidError } from "../core/errors.ts";
import { checkFaithful, Fingerprint, fingerprintOf } from "../core/fingerprint.ts";
import { aFunction, type Check, checkOptions } from "../core/option-checks.ts";
import { canonicalText, type ParsedJson, parseExactly } from "./exact-json.ts";
import type { RawEvent } from "./http/event.ts";
import { targetOf } from "./http/fingerprint.ts";
import { readBody } from "./http/read-body.ts";
import { pickFields } from "./json-fields.ts";

interface JsonPlace<Event> {
  /**
   * Yields the payload: a value, or text that is JSON.
   * @default - the body of an HTTP request or of an SQS record; else the event itself
   */
  readonly of?: (event: Event) => unknown;
}

/** Paths such as `data.amount`; a path leads into every entry of an array. A name with a dot in it has no path. */
export type JsonFingerprintOptions<Event = unknown> = JsonPlace<Event> &
  (
    | {
        /** The fields that tell two payloads apart. */
        readonly take: readonly string[];
        readonly leave?: never;
      }
    | {
        /** The fields that change from delivery to delivery: all others count. */
        readonly leave: readonly string[];
        readonly take?: never;
      }
  );

const paths: Check = [
  "must be a list of paths such as `data.amount`",
  (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((path) => typeof path === "string" && path.split(".").every((name) => name !== "")),
];

/**
 * Yields the fields of a JSON payload that tell two payloads apart, for `fingerprint`. A delivery with another timestamp or
 * count of attempts is then the same, and gets the first answer. Method, route and query of an HTTP request count too. Only
 * these fields are looked at, and numbers in them are read digit by digit from the text: senders write ids beyond 2^53 as numbers.
 * `take` is the safer of the two: a field that the sender adds later changes nothing. Choose all fields that the handler acts
 * on: another value in a field that does not count gets the first answer without a word.
 * @throws InvalidOptionError (`INVALID_OPTION`) at once. On events, PayloadInvalidError (`PAYLOAD_INVALID`) for a payload
 * that isn't JSON or has none of the fields of `take`, and for a large integer in a payload that was parsed before.
 */
export function fingerprintFromJson<Event = unknown>(
  options: JsonFingerprintOptions<Event>,
): (event: Event) => unknown {
  checkOptions(options, { take: paths, leave: paths, of: aFunction }, []);
  const { take, leave, of } = options;
  if ((take === undefined) === (leave === undefined)) {
    throw new InvalidOptionError("take", "or `leave` must be given, and not both");
  }
  const pick = take ? pickFields("take", take) : pickFields("leave", leave ?? []);
  return (event) => {
    const raw = (event ?? {}) as RawEvent & { readonly messageId?: unknown };
    const isHttp = typeof (raw.requestContext?.http?.method ?? raw.httpMethod) === "string";
    const payload = of ? of(event) : isHttp ? bodyOf(raw) : raw.messageId ? raw.body : event;
    const { value, mark } = parsed(payload);
    const picked = exactly(pickedFrom(value, pick), mark);
    return isHttp ? new Fingerprint("http-json", ...targetOf(raw), fingerprintOf(picked)) : picked;
  };
}

/** @throws PayloadInvalidError (`PAYLOAD_INVALID`) */
function pickedFrom(value: unknown, pick: (value: unknown) => unknown): unknown {
  try {
    return pick(value);
  } catch (error) {
    throw error instanceof RangeError ? refused("it is nested too deep") : error;
  }
}

/** A payload without a number that JavaScript would round has the fingerprint that it always had. */
function exactly(picked: unknown, mark: string | undefined): unknown {
  checkFaithful(picked);
  const text = mark === undefined ? undefined : canonicalText(picked, mark);
  return text === undefined ? picked : new Fingerprint("json", text);
}

/** A body parser may have been there before. */
function bodyOf({ body, isBase64Encoded = false }: RawEvent): unknown {
  return typeof body === "string" ? readBody({ body, isBase64Encoded }) : body;
}

function parsed(payload: unknown): ParsedJson {
  if (payload === undefined) throw refused("it is empty");
  if (typeof payload !== "string") return { value: payload, mark: undefined };
  try {
    return parseExactly(payload);
  } catch {
    // The parser's own message quotes the payload.
    throw new PayloadInvalidError(
      "the payload is not JSON: give `of`, which yields the part that is",
      "the payload isn't JSON",
    );
  }
}

function refused(why: string): PayloadInvalidError {
  return new PayloadInvalidError(`the payload has no fingerprint: ${why}`, `the payload has a fault: ${why}`);
}
