// Set-ups that run without an error, and don't do what their author meant (S1).
import middy from "@middy/core";
import { callerFromJwt, httpIdempotency, httpIdempotent, idempotent, runOnce } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { fakeClock, fakeLambdaContext, MemoryStore } from "onceonly/testing";
import type { Mistake } from "../given.ts";
import { logOf, messageOf } from "../given.ts";

interface Order {
  readonly id: string;
}

const given = () => ({ operation: "order", store: new MemoryStore(), key: (event: Order) => event.id });
const context = () => fakeLambdaContext({ clock: fakeClock() });
const order: Order = { id: "1" };

const request = {
  version: "2.0",
  rawPath: "/orders",
  headers: { "idempotency-key": "k1", "x-user": "mallory" } as Readonly<Record<string, string>>,
  requestContext: { http: { method: "POST" } },
  body: "{}",
};

/** What the first event of a process logs for this key. */
const keyLog = (key: (event: Order) => string) =>
  logOf("warn", () => idempotent(async () => 1, { ...given(), key })(order, context()));

const present = 'the key of "order" contains the current time or date, which isn\'t in the event';

export const SET_UP_MISTAKES: readonly Mistake[] = [
  {
    made: "gives a retention of an hour in milliseconds",
    reportedBy: "log",
    text: 'onceonly: `retentionSeconds: 3600000` of "order" is 41.7 days; did you mean 3600 seconds?',
    make: () => logOf("warn", () => idempotent(async () => 1, { ...given(), retentionSeconds: 3_600_000 })),
  },
  {
    made: "gives a lease of half a minute in milliseconds",
    reportedBy: "log",
    text: 'onceonly: `leaseSeconds: 30000` of "refund" is 8.3 hours; did you mean 30 seconds?',
    make: () =>
      logOf("warn", () =>
        idempotent(async () => 1, { ...given(), operation: "refund", leaseSeconds: 30_000 }),
      ),
  },
  {
    made: "waits for half a second in milliseconds",
    reportedBy: "log",
    text: 'onceonly: `waitSeconds: 500` of "order" is 8.3 minutes; did you mean 0.5 seconds?',
    make: () =>
      logOf("warn", () => idempotent(async () => 1, { ...given(), whenInProgress: { waitSeconds: 500 } })),
  },
  {
    made: "passes `DynamoDBStore` the table's name instead of its options",
    reportedBy: "error",
    text: "`options` must be an object such as { tableName: … } (got a string of 6 characters)",
    make: () => messageOf(() => new DynamoDBStore("orders" as never)),
  },
  {
    made: "swaps the options and the key of `runOnce`",
    reportedBy: "error",
    text: "`options` must be an object and come first: call runOnce(options, key, input, fn); got (a string of 1 character, an object, an object, a function)",
    make: () => messageOf(() => runOnce("1" as never, given() as never, order, () => 1)),
  },
  {
    made: "swaps the key and the input of `runOnce`",
    reportedBy: "error",
    text: "the idempotency key must be a string and come before the input: call runOnce(options, key, input, fn)",
    make: () =>
      messageOf(() => runOnce({ ...given(), leaseSeconds: 30 } as never, order as never, "1", () => 1)),
  },
  {
    made: "omits the input of `runOnce`, in JavaScript",
    reportedBy: "error",
    text: "`input` must come before `fn`, and be given: call runOnce(options, key, input, fn); got (an object, a string of 1 character, a function, undefined)",
    make: () => messageOf(() => (runOnce as (...all: unknown[]) => Promise<unknown>)(given(), "1", () => 1)),
  },
  {
    made: "puts the current milliseconds into the key in base 36",
    reportedBy: "log",
    text: present,
    make: () => {
      const now = Date.now().toString(36);
      return keyLog(({ id }) => `${id}-${now}`);
    },
  },
  {
    made: "puts the current milliseconds into the key, which is the same twice within one millisecond",
    reportedBy: "log",
    text: present,
    make: () => {
      const now = Date.now();
      return keyLog(({ id }) => `${id}-${now}`);
    },
  },
  {
    made: "puts the current second into the key",
    reportedBy: "log",
    text: present,
    make: () => {
      const now = new Date().toISOString().slice(0, 19);
      return keyLog(({ id }) => `${id}-${now}`);
    },
  },
  {
    made: "puts the calendar day into the key",
    reportedBy: "log",
    text: present,
    make: () => keyLog(({ id }) => `${id}-${new Date().toISOString().slice(0, 10)}`),
  },
  {
    made: "gives a `fingerprint` that returns nothing",
    reportedBy: "error",
    text: "`fingerprint` returned undefined, so all payloads would count as the same: return the part to compare, or an empty string to compare nothing",
    make: () =>
      messageOf(() =>
        idempotent(async () => 1, { ...given(), fingerprint: () => undefined })(order, context()),
      ),
  },
  {
    made: "doesn't await a step",
    reportedBy: "log",
    text: 'onceonly: step "mail" of "order" was still running when the handler returned: await it',
    make: () =>
      logOf("warn", () =>
        idempotent(async (_: Order, { idempotency }) => {
          void idempotency.step("mail", async () => "sent");
          return 1;
        }, given())(order, context()),
      ),
  },
  {
    made: "wraps two handlers under one operation",
    reportedBy: "log",
    text: 'onceonly: two wrappers use the operation "order" on the same store, so for each key only the first handler runs: give each handler its own operation',
    make: () =>
      logOf("warn", async () => {
        const options = given();
        await idempotent(async () => "created", options)(order, context());
        await idempotent(async () => "refunded", options)(order, context());
      }),
  },
  {
    made: "passes an asynchronous `scope`",
    reportedBy: "error",
    text: "`scope` returned a promise instead of the caller: look the caller up in an authorizer",
    make: () =>
      messageOf(() =>
        httpIdempotent(async () => ({ statusCode: 200 }), {
          operation: "order",
          store: new MemoryStore(),
          scope: (async () => "ann") as never,
        })(request as never, context()),
      ),
  },
  {
    made: "passes `callerFromJwt` without parentheses, in JavaScript",
    reportedBy: "error",
    text: "`scope` returned a function instead of the caller: call the reader, as in `scope: callerFromJwt()`",
    make: () =>
      messageOf(() =>
        httpIdempotent(async () => ({ statusCode: 200 }), {
          operation: "order",
          store: new MemoryStore(),
          scope: callerFromJwt as never,
        })(request as never, context()),
      ),
  },
  {
    made: "reads the scope from a header that the client sets",
    reportedBy: "log",
    text: 'onceonly: the scope of "order" is the header `x-user`, which any caller can set',
    make: () =>
      logOf("warn", () =>
        httpIdempotent(async () => ({ statusCode: 200 }), {
          operation: "order",
          store: new MemoryStore(),
          scope: ({ headers }: typeof request) => headers["x-user"],
        })(request, context()),
      ),
  },
  {
    made: "passes the middleware to `middy()` instead of `.use()`",
    reportedBy: "error",
    text: "`plugin` of middy() must not be this middleware: add it with `middy().use(middleware)`",
    make: () =>
      messageOf(() =>
        middy(httpIdempotency({ operation: "order", store: new MemoryStore(), scope: "public" }) as never),
      ),
  },
  {
    made: "returns the status code as a string",
    reportedBy: "answer",
    text: '"Idempotent-Replayed":"true"',
    make: async () => {
      const handler = httpIdempotent(async () => ({ statusCode: "200", body: "{}" }) as never, {
        operation: "order",
        store: new MemoryStore(),
        scope: "public" as const,
      });
      await handler(request, context());
      return JSON.stringify(await handler(request, context()));
    },
  },
];
