/** The fingerprint of an HTTP request: the parts of it that tell two payloads apart. */
import { InvalidOptionError, PayloadInvalidError } from "../../core/errors.ts";
import { Fingerprint, fingerprintOf } from "../../core/fingerprint.ts";
import { hashTuple } from "../../core/identity.ts";
import { checkOptions, oneOf } from "../../core/option-checks.ts";
import type { HttpRequestEvent } from "../options.ts";
import { hasEntries, isFunctionUrl, methodOf, type RawEvent, readHttpEvent } from "./event.ts";

export interface HttpFingerprintOptions {
  /**
   * Whether the called address counts too: host, stage and base path, as far as the event tells. For services
   * that know a tenant by its address alone; better, let `scope` name the tenant.
   * @default false
   */
  readonly withAddress?: boolean;
}

/**
 * Yields the payload of an HTTP request, for `fingerprint`: method, route, query and the bytes of the body. A request that
 * comes again through another host, stage, payload version or service (REST API, HTTP API, function URL, ALB) has the same
 * fingerprint. Without `withAddress` this is the default of `httpIdempotency`.
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
  return new Fingerprint("http", ...targetOf(raw), bodyOf(raw), ...address);
}

/** What a request asks for, without its body: method, route and query. */
export function targetOf(raw: RawEvent): readonly [method: string, route: string, query: string] {
  return [methodOf(raw), routePath(raw), canonicalQuery(raw)];
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
  if (!text.isWellFormed()) {
    throw new PayloadInvalidError(
      "the body holds a lone surrogate",
      "the body isn't well-formed Unicode: it has a lone surrogate",
    );
  }
  return isBase64Encoded ? Buffer.from(text, "base64") : text;
}

/** ALB passes every host on that its rules let through, and names it in the header only. */
function addressOf(raw: RawEvent): string {
  const host = raw.requestContext?.domainName ?? readHttpEvent(raw).headers("host").join();
  return `${host.toLowerCase()}${wholePath(raw)}`;
}

/**
 * The whole path, decoded. HTTP APIs have decoded it already, the others leave it as it was sent.
 * `%2F` and `/` cannot be told apart behind an HTTP API, and so are not elsewhere.
 */
function wholePath(raw: RawEvent): string {
  const path = raw.rawPath ?? raw.path ?? "";
  const isHttpApi = raw.version !== undefined && !isFunctionUrl(raw);
  return isHttpApi ? path : decoded(path);
}

/**
 * The path below the API, without the stage, which HTTP APIs keep, and without the base path of a custom domain, which REST
 * APIs keep. A route with its parameters tells that path; else only the stage is known.
 */
function routePath(raw: RawEvent): string {
  const path = wholePath(raw);
  const route = filledRoute(raw);
  if (route !== undefined) {
    const matched = [route, decoded(route)].find((each) => path.endsWith(each));
    if (matched !== undefined) return matched;
  }
  const stage = `/${raw.requestContext?.stage}`;
  if (path !== stage && !path.startsWith(`${stage}/`)) return path;
  return path.slice(stage.length) || "/";
}

/** The template of the route, such as `/orders/{id}`, with what stood in its places. */
function filledRoute({ routeKey, resource, pathParameters }: RawEvent): string | undefined {
  const template = resource ?? routeKey?.slice(routeKey.indexOf(" ") + 1);
  if (!template?.startsWith("/")) return undefined;
  let isFilled = true;
  const route = template.replace(/\{([^{}+]+)\+?\}/g, (_, name: string) => {
    const value = pathParameters?.[name];
    if (value === undefined) isFilled = false;
    return value ?? "";
  });
  return isFilled ? route : undefined;
}

function decoded(text: string): string {
  if (!text.includes("%")) return text;
  return text.replace(/(?:%[\da-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded;
    }
  });
}

/**
 * Sorted by name, since a map has no order of names; the values of one name in theirs. Encoded anew: payload v2 has what was
 * sent, REST APIs decode it (`+` is a space), and ALB takes it apart without decoding.
 */
function canonicalQuery(raw: RawEvent): string {
  const { rawQueryString, multiValueQueryStringParameters, queryStringParameters, requestContext } = raw;
  if (rawQueryString === "") return "";
  let query: URLSearchParams;
  if (rawQueryString === undefined) {
    const lists = hasEntries(multiValueQueryStringParameters) && multiValueQueryStringParameters;
    const values = Object.entries(lists || (queryStringParameters ?? {}));
    const pairs = values.flatMap(([name, each]) =>
      [each].flat().map((value): [string, string] => [name, value ?? ""]),
    );
    const undecoded = () => `?${pairs.map((pair) => pair.join("=")).join("&")}`;
    query = new URLSearchParams(requestContext?.elb ? undecoded() : pairs);
  } else {
    // One question mark is taken off: the query's own first one, if it has any, stays.
    query = new URLSearchParams(`?${rawQueryString}`);
  }
  query.sort();
  return query.toString();
}
