/** A fingerprint of some fields of a JSON payload, for senders that change the other fields in each delivery. */
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
   * Returns the payload: a value, or JSON text.
   * @default - the body of an HTTP request or SQS record; otherwise the event itself
   */
  readonly of?: (event: Event) => unknown;
}

/** Paths such as `data.amount`. A path applies to every entry of an array. A field name with a dot can't be addressed. */
export type JsonFingerprintOptions<Event = unknown> = JsonPlace<Event> &
  (
    | {
        /** The fields that decide whether two payloads are the same request. */
        readonly take: readonly string[];
        readonly leave?: never;
      }
    | {
        /** The fields that change between deliveries; all others count. */
        readonly leave: readonly string[];
        readonly take?: never;
      }
  );

const paths: Check = [
  "must be an array of paths such as `data.amount`",
  (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((path) => typeof path === "string" && path.split(".").every((name) => name !== "")),
];

/**
 * Makes a `fingerprint` from the fields of a JSON payload that decide whether two payloads are the same request. A
 * delivery with another timestamp or attempt count then matches, and gets the first response. Method, route and query of
 * an HTTP request count too. Only these fields are read, and their numbers digit by digit from the text, because senders
 * write ids beyond 2^53 as numbers. `take` is the safer choice: fields that the sender adds later change nothing. Choose
 * all fields that the handler acts on: if only an ignored field differs, the caller silently gets the first response.
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately. On events, PayloadInvalidError (`PAYLOAD_INVALID`) for a
 * payload that isn't JSON or has none of the fields of `take`, and for a large integer in a payload that was already
 * parsed.
 */
export function fingerprintFromJson<Event = unknown>(
  options: JsonFingerprintOptions<Event>,
): (event: Event) => unknown {
  checkOptions(options, { take: paths, leave: paths, of: aFunction }, []);
  const { take, leave, of } = options;
  if ((take === undefined) === (leave === undefined)) {
    throw new InvalidOptionError("take", "or `leave` is required, and only one of them");
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
    throw error instanceof RangeError ? refused("it is nested too deeply") : error;
  }
}

/** The fingerprint of a payload without rounded numbers must not change. */
function exactly(picked: unknown, mark: string | undefined): unknown {
  checkFaithful(picked);
  const text = mark === undefined ? undefined : canonicalText(picked, mark);
  return text === undefined ? picked : new Fingerprint("json", text);
}

/** A body parser may have run before. */
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
      "the payload isn't JSON: set `of` to a function that returns the part that is",
      "the payload isn't JSON",
    );
  }
}

function refused(why: string): PayloadInvalidError {
  return new PayloadInvalidError(
    `can't compute the fingerprint of the payload: ${why}`,
    `the payload is invalid: ${why}`,
  );
}
