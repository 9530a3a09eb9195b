/** The fingerprint of an HTTP request: the parts of it that tell two payloads apart. */
import { InvalidOptionError, PayloadInvalidError } from "../../core/errors.ts";
import { Fingerprint, fingerprintOf } from "../../core/fingerprint.ts";
import { hashTuple } from "../../core/identity.ts";
import { checkOptions, oneOf } from "../../core/option-checks.ts";
import type { HttpRequestEvent } from "../options.ts";
import { methodOf, type RawEvent, readHttpEvent } from "./event.ts";
import { routePath, wholePath } from "./path.ts";
import { canonicalQuery } from "./query.ts";

export interface HttpFingerprintOptions {
  /**
   * Whether it counts too which address was called: host, stage and base path, as far as the event tells. For services
   * that know a tenant by them alone; better, let `scope` name the tenant.
   * @default false
   */
  readonly withAddress?: boolean;
}

/**
 * What of an HTTP request is the payload, for `fingerprint`: method, route, query and the bytes of the body. It is the
 * same for a request that comes again through another host, stage, payload version or service (REST API, HTTP API,
 * function URL, ALB), and so is the default of `httpIdempotency`, where `withAddress` is not needed.
 * @throws InvalidOptionError (`INVALID_OPTION`) at once, and on events whose body a parser has been at;
 * PayloadInvalidError (`PAYLOAD_INVALID`).
 */
export function fingerprintFromHttp(
  options: HttpFingerprintOptions = {},
): (event: HttpRequestEvent) => unknown {
  checkOptions(options, { withAddress: oneOf(true, false) }, []);
  return options.withAddress
    ? (event) => httpFingerprint(event, addressOf(event as RawEvent))
    : httpFingerprint;
}

/** What the client sent, not what a parser made of it. */
export function httpFingerprint(event: unknown, ...address: readonly string[]): Fingerprint {
  const raw = event as RawEvent;
  return new Fingerprint("http", methodOf(raw), routePath(raw), canonicalQuery(raw), bodyOf(raw), ...address);
}

/**
 * Tells fingerprints as they were made before, from path and query as each service writes them: what is on record under
 * one still counts. Made only when such a record is met, and of what the event holds now.
 */
export function formerFingerprintOf(event: unknown): (fingerprint: string) => boolean {
  const raw = event as RawEvent;
  const { body, isBase64Encoded, rawPath, path = "", rawQueryString } = raw;
  const query = raw.multiValueQueryStringParameters ?? raw.queryStringParameters ?? {};
  const sorted = rawQueryString ?? JSON.stringify(Object.entries(query).sort());
  const parts = [methodOf(raw), rawPath ?? path, sorted] as const;
  return (fingerprint) =>
    fingerprint.startsWith("1:") &&
    fingerprint === fingerprintOf(hashTuple(...parts, bodyOf({ body, isBase64Encoded })));
}

function bodyOf({ body, isBase64Encoded }: Pick<RawEvent, "body" | "isBase64Encoded">): string | Uint8Array {
  const text = body ?? "";
  if (typeof text !== "string") {
    const rule = "must be given, or onceonly come before the body parser";
    throw new InvalidOptionError("fingerprint", rule, undefined);
  }
  if (!text.isWellFormed()) throw new PayloadInvalidError("the body holds a lone surrogate");
  return isBase64Encoded ? Buffer.from(text, "base64") : text;
}

/** ALB passes every host on that its rules let through, and names it in the header only. */
function addressOf(raw: RawEvent): string {
  const host = raw.requestContext?.domainName ?? readHttpEvent(raw).headers("host").join();
  return `${host.toLowerCase()}${wholePath(raw)}`;
}
