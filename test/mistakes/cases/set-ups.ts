// Set-ups that run without an error, and don't do what their author meant (S1).
import middy from "@middy/core";
import { httpIdempotency, httpIdempotent, idempotent } from "onceonly";
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

const present = 'the key of "order" holds the present time or date, and the event doesn\'t';

export const SET_UP_MISTAKES: readonly Mistake[] = [
  {
    made: "gives a retention of an hour in milliseconds",
    toldBy: "log",
    text: 'onceonly: `retentionSeconds: 3600000` of "order" is 41.7 days; did you mean 3600 seconds?',
    make: () => logOf("warn", () => idempotent(async () => 1, { ...given(), retentionSeconds: 3_600_000 })),
  },
  {
    made: "puts the milliseconds of the clock into the key, which reads alike twice within one of them",
    toldBy: "log",
    text: present,
    make: () => {
      const now = Date.now();
      return keyLog(({ id }) => `${id}-${now}`);
    },
  },
  {
    made: "puts a second of the clock into the key",
    toldBy: "log",
    text: present,
    make: () => {
      const now = new Date().toISOString().slice(0, 19);
      return keyLog(({ id }) => `${id}-${now}`);
    },
  },
  {
    made: "puts the calendar day into the key",
    toldBy: "log",
    text: present,
    make: () => keyLog(({ id }) => `${id}-${new Date().toISOString().slice(0, 10)}`),
  },
  {
    made: "gives a `fingerprint` that returns nothing",
    toldBy: "error",
    text: "`fingerprint` returned undefined, so that every payload would count as the same: return what tells two payloads apart, or an empty string to compare nothing",
    make: () =>
      messageOf(() =>
        idempotent(async () => 1, { ...given(), fingerprint: () => undefined })(order, context()),
      ),
  },
  {
    made: "does not await a step",
    toldBy: "log",
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
    toldBy: "log",
    text: 'onceonly: two wrappers run the operation "order" on one store, so of one key only the first handler runs, and the other answers with its result: give each handler its own operation',
    make: () =>
      logOf("warn", async () => {
        const options = given();
        await idempotent(async () => "created", options)(order, context());
        await idempotent(async () => "refunded", options)(order, context());
      }),
  },
  {
    made: "gives an asynchronous `scope`",
    toldBy: "error",
    text: "option `scope` must return the caller, not a promise",
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
    made: "reads the scope from a header that the client writes",
    toldBy: "log",
    text: 'onceonly: the scope of "order" is the header `x-user`, which any caller can write',
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
    made: "gives the middleware to `middy()` instead of `.use()`",
    toldBy: "error",
    text: "option `plugin` of middy() must not be this middleware: use it, as in `middy().use(middleware)`",
    make: () =>
      messageOf(() =>
        middy(httpIdempotency({ operation: "order", store: new MemoryStore(), scope: "public" }) as never),
      ),
  },
  {
    made: "answers with the text of a status",
    toldBy: "answer",
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
