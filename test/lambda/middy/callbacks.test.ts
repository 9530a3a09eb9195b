// Handlers that answer by a callback, as Lambda has them up to Node 22: each caller gets the same answer.
import type { Callback, Context } from "aws-lambda";
import { httpIdempotent, idempotent } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { beforeAll, describe, expect, inject, it, vi } from "vitest";
import { connect, createTable } from "../../kit/tables.ts";
import { given } from "../given.ts";
import { v2Event } from "../http/given.ts";

interface Transfer {
  readonly id: string;
}
type OldHandler = (event: Transfer, context: Context, callback: Callback) => void;
/** The runtime's own: nobody may answer past the record. */
const lambdas = () => expect.unreachable("Lambda's own callback was called");
const key = (event: Transfer) => event.id;

const seen = (call: Promise<unknown>) =>
  call.then(
    (answer) => ({ answer }),
    (error) => ({ error: error instanceof Error ? error.message : error }),
  );

/** As Node 22 calls a handler, and as Node 24 does. */
const RUNTIMES = [
  ["with a callback", [lambdas]],
  ["without one", []],
] as const;

describe.each(inject("dynamodbEngines"))("answers 16: idempotent on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let tableName: string;
  beforeAll(async () => {
    tableName = await createTable(client);
  });

  const ENDS: readonly (readonly [string, OldHandler, object])[] = [
    ["at once", (event, _, callback) => callback(null, { paid: event.id }), { answer: { paid: "t1" } }],
    [
      "later",
      (event, _, callback) => void setImmediate(() => callback(undefined, event.id)),
      { answer: "t1" },
    ],
    ["with nothing", (_, __, callback) => callback(), { answer: undefined }],
    [
      "more than once",
      (_, __, callback) => {
        callback(null, "first");
        callback("second");
      },
      { answer: "first" },
    ],
    ["not, and by its promise", async (_, __, _callback) => "promised", { answer: "promised" }],
    [
      "and by its promise, later",
      async (_, __, callback) => {
        callback(null, "called");
        return "promised";
      },
      { answer: "called" },
    ],
    ["by an error", (_, __, callback) => callback(new Error("declined")), { error: "declined" }],
    ["by text for an error", (_, __, callback) => callback("declined"), { error: "declined" }],
    [
      "by throwing",
      (_event, _context, _callback) => {
        throw new Error("thrown");
      },
      { error: "thrown" },
    ],
    [
      "by a promise that fails",
      (_, __, _callback) => Promise.reject(new Error("late")) as never,
      { error: "late" },
    ],
  ];

  it.each(
    ENDS.flatMap(([end, ...rest]) => RUNTIMES.map(([how, more]) => [how, end, more, ...rest] as const)),
  )(
    "called %s: a handler that answers %s has one effect and one answer",
    async (how, end, more, handle, answer) => {
      const { options, context } = given();
      const { clock: _, random: __, ...rest } = options;
      const run = vi.fn<OldHandler>();
      const handler = idempotent(
        (event: Transfer, ctx: Context, callback: Callback) => {
          run(event, ctx, callback);
          return handle(event, ctx, callback);
        },
        {
          ...rest,
          operation: `${end} ${how}`,
          store: new DynamoDBStore({ tableName, client }),
          leaseSeconds: 30,
          key,
          isFinalError: () => true,
        },
      );
      const call = () => seen(handler({ id: "t1" }, context(), ...(more as unknown as [Callback])));

      expect([await call(), await call()]).toEqual([answer, answer]);
      expect(run).toHaveBeenCalledTimes(1);
    },
  );
});

describe("idempotent", () => {
  it("rejects anything but a function immediately", () => {
    const { options } = given();

    expect(() => idempotent({ ...options, key } as never, (() => {}) as never)).toThrow(
      "`handler` must be a function, and comes before the options (got an object)",
    );
  });

  it("has two parameters whatever the handler has: Node 24 refuses handlers with three", () => {
    const { options } = given();
    const handler = idempotent((_: Transfer, __: Context, callback: Callback) => callback(), {
      ...options,
      key,
    });

    expect(handler.length).toBe(2);
  });

  it("leaves a framework's third argument as it is, and a handler with two parameters unchanged", async () => {
    const { options, context } = given();
    const signal = new AbortController().signal;
    const third = vi.fn();
    const handler = idempotent(
      async (_: Transfer, __: Context, more: { signal: AbortSignal }) => third(more),
      { ...options, key },
    );
    const plain = idempotent((event: Transfer) => event.id, { ...options, operation: "plain", key });

    await handler({ id: "t1" }, context(), { signal });

    expect(third).toHaveBeenCalledExactlyOnceWith({ signal });
    expect(await Reflect.apply(plain, undefined, [{ id: "t2" }, context(), lambdas])).toBe("t2");
  });
});

describe("a handler that does not name its callback", () => {
  const collected = () => {
    const { options, context } = given();
    const errors: unknown[] = [];
    const call = (inner: OldHandler, isLate: boolean) => {
      const handler = idempotent(
        (...args: Parameters<OldHandler>) => {
          const [event, ctx, callback] = args;
          const caught: Callback = (...answer) => {
            try {
              callback(...answer);
            } catch (error) {
              errors.push((error as Error).message);
            }
          };
          if (isLate) setImmediate(() => inner(event, ctx, caught));
          else inner(event, ctx, caught);
        },
        { ...options, operation: `late ${isLate}`, key },
      );
      return seen(Reflect.apply(handler, undefined, [{ id: "t1" }, context(), lambdas]));
    };
    return { call, errors };
  };

  it("answers by it before it has returned", async () => {
    const { call, errors } = collected();

    expect(await call((event, _, callback) => callback(null, event.id), false)).toEqual({ answer: "t1" });
    expect(errors).toEqual([]);
  });

  it("is reported if it calls back later, and never reaches Lambda's own", async () => {
    const { call, errors } = collected();

    expect(await call((event, _, callback) => callback(null, event.id), true)).toEqual({ answer: undefined });
    await expect.poll(() => errors).toHaveLength(1);
    expect(errors[0]).toContain(
      "called its callback after it had returned: declare the callback as its third parameter, or return a promise",
    );
  });
});

describe("httpIdempotent", () => {
  it("answers by callback even if a request passes without a record", async () => {
    const { options, context, store } = given();
    const handler = httpIdempotent(
      (_event: object, _context: Context, callback: Callback) => {
        setImmediate(() => callback(null, { statusCode: 200, body: "read" }));
      },
      { ...options, scope: "public" },
    );

    const answer = await handler(v2Event({ method: "GET" }), context(), lambdas);

    expect(answer).toEqual({ statusCode: 200, body: "read" });
    expect(store.records.size).toBe(0);
  });
});
