/** Decides which headers a replay carries: those of the response, not those of its caller, connection or time. */

export type Headers = Readonly<Record<string, unknown>>;

/**
 * Headers neither stored nor replayed, by what they belong to, in lower case; `*` matches any ending. docs/reference/http.md
 * has this as a table.
 */
export const NOT_REPLAYED = {
  session:
    "set-cookie set-cookie2 authorization www-authenticate authentication-info x-amzn-remapped-authorization " +
    "x-amzn-remapped-www-authenticate x-auth-token x-access-token x-refresh-token x-amz-security-token",
  form: "csrf-token x-csrf-token x-csrftoken xsrf-token x-xsrf-token",
  request:
    "traceparent tracestate baggage b3 x-b3-* uber-trace-id sentry-trace x-cloud-trace-context x-datadog-* trace-id " +
    "x-trace-id x-amzn-trace-id request-id x-request-id correlation-id x-correlation-id x-amzn-requestid " +
    "x-amz-request-id x-amz-apigw-id x-amz-id-2 x-amz-cf-*",
  /** RFC 9110, section 7.6.1. */
  connection: "connection keep-alive proxy-* te trailer transfer-encoding upgrade",
  moment: "date age server-timing ratelimit* x-ratelimit-* idempotent-replayed",
} as const;

const all = Object.values(NOT_REPLAYED).join(" ").split(" ");
const names = new Set(all);
const beginnings = all.filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1));

/** The headers that are stored. */
export function replayable(headers: Headers): Headers {
  return without(headers, isOfFirst);
}

/**
 * The headers that are replayed to `origin`: CORS permissions for another origin don't apply to this one. All CORS
 * headers are then removed, so that a middleware or the gateway can set its own.
 */
export function replayedTo<
  Response extends { readonly headers?: Headers; readonly multiValueHeaders?: Headers },
>(origin: string | undefined, response: Response): Response {
  const { headers, multiValueHeaders } = response;
  const allowed = [...Object.entries(headers ?? {}), ...Object.entries(multiValueHeaders ?? {})].flatMap(
    ([name, value]) => (name.toLowerCase() === "access-control-allow-origin" ? [value].flat() : []),
  );
  const isForeign = allowed.some((each) => each !== "*" && each !== origin);
  // Also headers that an older version of this code stored.
  const isLeftOut = (name: string) => isOfFirst(name) || (isForeign && name.startsWith("access-control-"));
  return {
    ...response,
    ...(headers && { headers: without(headers, isLeftOut) }),
    ...(multiValueHeaders && { multiValueHeaders: without(multiValueHeaders, isLeftOut) }),
  };
}

/** Whether a header belongs to the first response only. @param name in lower case */
export function isOfFirst(name: string): boolean {
  return names.has(name) || beginnings.some((each) => name.startsWith(each));
}

/** @param isLeftOut gets names in lower case */
export function without(headers: Headers, isLeftOut: (name: string) => boolean): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isLeftOut(name.toLowerCase())));
}
