/** The fingerprint of an HTTP request: the parts that decide whether two requests are the same. */
import { InvalidOptionError, PayloadInvalidError } from "../../core/errors.ts";
import { Fingerprint, fingerprintOf } from "../../core/fingerprint.ts";
import { hashTuple } from "../../core/identity.ts";
import { checkOptions, oneOf } from "../../core/option-checks.ts";
import type { HttpRequestEvent } from "../options.ts";
import { hasEntries, isFunctionUrl, methodOf, type RawEvent, readHttpEvent } from "./event.ts";

export interface HttpFingerprintOptions {
  /**
   * Whether the called address also counts: host, stage and base path, if the event contains them. For services that
   * identify a tenant only by its address; it's better to let `scope` name the tenant.
   * @default false
   */
  readonly withAddress?: boolean;
}

/**
 * Returns the payload of an HTTP request, for `fingerprint`: method, route, query and the bytes of the body. A request
 * repeated through another host, stage, payload version or service (REST API, HTTP API, function URL, ALB) has the same
 * fingerprint. Without `withAddress`, this is the default of `httpIdempotency`.
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately, and on events whose body was already parsed;
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

/** The client's original content, not a parser's result. */
export function httpFingerprint(event: unknown, ...address: readonly string[]): Fingerprint {
  const raw = event as RawEvent;
  return new Fingerprint("http", ...targetOf(raw), bodyOf(raw), ...address);
}

/** The request's target, without its body: method, route and query. */
export function targetOf(raw: RawEvent): readonly [method: string, route: string, query: string] {
  return [methodOf(raw), routePath(raw), canonicalQuery(raw)];
}

/**
 * Recognizes fingerprints from previous versions, made from path and query as each service writes them: records that have
 * one still count. Computed only for such a record, from the event's current content.
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
    const rule =
      "is required if a body parser runs before onceonly: set it, or put onceonly before the parser";
    throw new InvalidOptionError("fingerprint", rule, undefined);
  }
  if (!text.isWellFormed()) {
    throw new PayloadInvalidError(
      "the body contains a lone surrogate",
      "the body isn't valid Unicode: it contains a lone surrogate",
    );
  }
  return isBase64Encoded ? Buffer.from(text, "base64") : text;
}

/** ALB forwards every host that its rules allow, and names it only in the header. */
function addressOf(raw: RawEvent): string {
  const host = raw.requestContext?.domainName ?? readHttpEvent(raw).headers("host").join();
  return `${host.toLowerCase()}${wholePath(raw)}`;
}

/**
 * The whole path, decoded. HTTP APIs have decoded it already, others leave it as sent. Behind an HTTP API `%2F` and `/`
 * look the same, so they count as the same everywhere.
 */
function wholePath(raw: RawEvent): string {
  const path = raw.rawPath ?? raw.path ?? "";
  const isHttpApi = raw.version !== undefined && !isFunctionUrl(raw);
  return isHttpApi ? path : decoded(path);
}

/**
 * The path below the API, without the stage, which HTTP APIs keep, and the base path of a custom domain, which REST APIs
 * keep. A route with its parameters gives that path; otherwise only the stage is known.
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

/** The route's template, such as `/orders/{id}`, with its values filled in. */
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
 * Sorted by name, because a map doesn't keep an order of names; the values of one name stay in order. Encoded again:
 * payload v2 has it as sent, REST APIs decode it (`+` is a space), and ALB splits it without decoding.
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
    // URLSearchParams strips one question mark: the query's own first one, if any, stays.
    query = new URLSearchParams(`?${rawQueryString}`);
  }
  query.sort();
  return query.toString();
}
