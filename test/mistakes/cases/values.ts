import { httpIdempotent, idempotent } from "onceonly";
import { fakeClock, fakeLambdaContext, MemoryStore } from "onceonly/testing";
import type { Mistake } from "../given.ts";
import { logOf, messageOf } from "../given.ts";

const given = { operation: "order", store: new MemoryStore() };
const context = (remainingMs = 29_000) => fakeLambdaContext({ clock: fakeClock(), remainingMs });

const refusedKey = (key: (event: { id?: unknown }) => unknown) =>
  messageOf(() => idempotent(async () => 1, { ...given, key: key as () => string })({ id: "1" }, context()));

const REQUEST = {
  version: "2.0",
  headers: { "idempotency-key": "k1" },
  requestContext: { http: { method: "POST", path: "/orders" } },
  rawPath: "/orders",
  body: "{}",
};

let requests = 0;

/** What is logged about a handler that returns this over HTTP. */
const refusedResponse = (result: unknown) =>
  logOf("error", () =>
    httpIdempotent(async () => result, { ...given, scope: "public", key: () => `k${++requests}` })(
      REQUEST,
      context(),
    ),
  );

/** Keys, results and times that look right, and are not. */
export const VALUE_MISTAKES: readonly Mistake[] = [
  {
    made: "builds a key in a template from a missing field",
    reportedBy: "error",
    text: 'the idempotency key contains the text of a missing value, such as "undefined"',
    make: () => refusedKey((event) => `${(event as { orderId?: string }).orderId}/v4`),
  },
  {
    made: "builds a key in a template from an object",
    reportedBy: "error",
    text: 'such as "undefined", "null" or "[object Object]": return no key if a part is missing',
    make: () => refusedKey((event) => `order:${event}`),
  },
  {
    made: "builds a key from an invalid date",
    reportedBy: "error",
    text: "contains the text of a missing value",
    make: () => refusedKey(() => `report/${new Date("today")}`),
  },
  {
    made: "returns a number as the key",
    reportedBy: "error",
    text: "got a number; convert it, such as with `String(id)`",
    make: () => refusedKey(() => 7),
  },
  {
    made: "returns a promise as the key",
    reportedBy: "error",
    text: "got a promise; keys aren't awaited, so the function must return the string itself",
    make: () => refusedKey(async () => "order-7"),
  },
  {
    made: "returns an object as the key",
    reportedBy: "error",
    text: "got an object; join the fields that identify the operation into one string, such as `event.orderId`",
    make: () => refusedKey((event) => event),
  },
  {
    made: "returns an array as the key",
    reportedBy: "error",
    text: "got an array; join the fields that identify the operation into one string, such as `event.orderId`",
    make: () => refusedKey(() => ["order", "7"]),
  },
  {
    made: "returns a function as the key",
    reportedBy: "error",
    text: "got a function; call it",
    make: () => refusedKey(() => () => "order-7"),
  },
  {
    made: "returns 300 characters as the key",
    reportedBy: "error",
    text: "got a string of 300 characters; use its SHA-256 instead",
    make: () => refusedKey(() => "k".repeat(300)),
  },
  {
    made: "returns a string with a line break as the key",
    reportedBy: "error",
    text: "got a string with a control character, such as a line break; trim it",
    make: () => refusedKey(() => "order-7\n"),
  },
  {
    made: "builds a scope in a template from a missing field",
    reportedBy: "error",
    text: 'the scope is blank or the text of a missing value such as "undefined", so it doesn\'t identify a caller',
    make: () =>
      messageOf(() =>
        idempotent(async () => 1, { ...given, key: () => "k", scope: () => `acme|${undefined}` })(
          {},
          context(),
        ),
      ),
  },
  {
    made: "passes an async `fingerprint`",
    reportedBy: "error",
    text: "can't compute the fingerprint of the payload: `fingerprint` returned a promise, and it isn't awaited",
    make: () =>
      messageOf(() =>
        idempotent(async () => 1, { ...given, key: () => "k", fingerprint: async () => "body" })(
          {},
          context(),
        ),
      ),
  },
  {
    made: "passes an async `shouldStore`",
    reportedBy: "error",
    text: "`shouldStore` must return a boolean, not a promise: it isn't awaited",
    make: () =>
      messageOf(() =>
        idempotent(async () => 1, {
          ...{ ...given, store: new MemoryStore(), key: () => "k" },
          shouldStore: (async () => false) as never,
        })({}, context()),
      ),
  },
  {
    made: "passes an async `isFinalError`",
    reportedBy: "error",
    text: "`isFinalError` must return a boolean, not a promise: it isn't awaited",
    make: () =>
      messageOf(() =>
        idempotent(() => Promise.reject(new Error("declined")), {
          ...{ ...given, store: new MemoryStore(), key: () => "k" },
          isFinalError: (async () => false) as never,
        })({}, context()),
      ),
  },
  {
    made: "gives the retention in milliseconds",
    reportedBy: "error",
    text: "`retentionSeconds` must be a number of seconds between 1 and 31622400 (366 days), unless `allowLongRetention` is true (got 86400000; did you mean 86400?)",
    make: () =>
      messageOf(() => idempotent(async () => 1, { ...given, key: () => "k", retentionSeconds: 86_400_000 })),
  },
  {
    made: "gives the lease in milliseconds, or far longer than the timeout",
    reportedBy: "log",
    text: '`leaseSeconds` of "order" is 30000 s, and the invocation has 29 s left',
    make: () =>
      logOf("warn", () =>
        idempotent(async () => 1, { ...given, key: () => "lease", leaseSeconds: 30_000 })({}, context()),
      ),
  },
  {
    made: "returns a fetch Response over HTTP",
    reportedBy: "log",
    text: "it is a fetch Response or an unread stream: read it, and return { statusCode, headers, body }",
    make: () => refusedResponse(Response.json({ id: 1 })),
  },
  {
    made: "returns a Map over HTTP",
    reportedBy: "log",
    text: "can't store the response: $ is a Map: convert it first",
    make: () => refusedResponse(new Map([["id", 1]])),
  },
  {
    made: "returns an object that contains a Set over HTTP",
    reportedBy: "log",
    text: "can't store the response: $.ids is a Set: convert it first",
    make: () => refusedResponse({ ids: new Set([1]) }),
  },
  {
    made: "returns a function over HTTP",
    reportedBy: "log",
    text: "can't store the response: $ is a function",
    make: () => refusedResponse(() => 1),
  },
  {
    made: "returns a fetch Response from a plain handler",
    reportedBy: "error",
    text: "can't store the result: $ is a Response: convert it first",
    make: () =>
      messageOf(() =>
        idempotent(async () => Response.json({ id: 1 }), { ...given, key: () => "response" })({}, context()),
      ),
  },
];
