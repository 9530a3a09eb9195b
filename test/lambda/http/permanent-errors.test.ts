// A PermanentError with a status is an answer: the first caller and each retry get the same problem document.
import { httpIdempotency, httpIdempotent, PermanentError } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from "vitest";
import type { PermanentErrorOptions } from "../../../lib/core/handler-errors.ts";
import { describeOnMiddies } from "../../kit/middies.ts";
import { connect, createTable } from "../../kit/tables.ts";
import { given } from "../given.ts";
import { v1Event, v2Event } from "./given.ts";

const event = v2Event({ headers: { "Idempotency-Key": '"k"' } });
const TYPE = "https://github.com/onceonly/onceonly/blob/main/docs/reference/errors.md#permanent";
const declined = { statusCode: 402, name: "CardDeclined" };

const problem = (more: object) => ({ type: TYPE, title: "permanent", code: "PERMANENT", ...more });
const HIDDEN = "this request will never succeed: don't send it again";

const CASES: readonly (readonly [string, PermanentErrorOptions, object])[] = [
  ["with name and message", declined, problem({ status: 402, detail: "no money", name: "CardDeclined" })],
  [
    "under its own name",
    { statusCode: 422 },
    problem({ status: 422, detail: "no money", name: "PermanentError" }),
  ],
  [
    "without what is not to be shown",
    { ...declined, expose: false },
    problem({ status: 402, detail: HIDDEN }),
  ],
  ["without what a server keeps to itself", { statusCode: 501 }, problem({ status: 501, detail: HIDDEN })],
  [
    "with what a server is to show",
    { statusCode: 501, expose: true },
    problem({ status: 501, detail: "no money", name: "PermanentError" }),
  ],
];

let logged: string[];
beforeEach(() => {
  logged = [];
  vi.spyOn(console, "error").mockImplementation((text: string) => void logged.push(text));
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(inject("dynamodbEngines"))("httpIdempotent on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let tableName: string;
  beforeAll(async () => {
    tableName = await createTable(client);
  });

  it.each(CASES)("answers a PermanentError %s, first and replayed", async (title, how, expected) => {
    const { options, context } = given();
    const { clock: _, random: __, ...rest } = options;
    const run = vi.fn(async (): Promise<object> => {
      throw new PermanentError("no money", how);
    });
    const handler = httpIdempotent(run, {
      ...rest,
      operation: title,
      store: new DynamoDBStore({ tableName, client }),
      scope: "public",
      leaseSeconds: 30,
    });

    const answers = [await handler(event, context()), await handler(event, context())] as {
      statusCode: number;
      headers: object;
      body: string;
    }[];

    for (const { statusCode, headers, body } of answers) {
      expect(statusCode).toBe(how.statusCode);
      expect(headers).toMatchObject({ "Content-Type": "application/problem+json" });
      expect(JSON.parse(body)).toEqual(expected);
    }
    expect(run).toHaveBeenCalledTimes(1);
  });
});

describe("httpIdempotent", () => {
  it.each([undefined, 200, 302, 600, 402.5, Number.NaN])(
    "throws a PermanentError on whose status is %s",
    async (statusCode) => {
      const { options, context } = given();
      const handler = httpIdempotent(
        async () => {
          throw new PermanentError("no money", statusCode === undefined ? {} : { statusCode });
        },
        { ...options, scope: "public" },
      );

      await expect(handler(event, context())).rejects.toMatchObject({ code: "PERMANENT" });
      await expect(handler(event, context())).rejects.toMatchObject({ message: "no money" });
    },
  );

  it("uses an assigned status, as http-errors would", async () => {
    const { options, context } = given();
    const handler = httpIdempotent(
      async (): Promise<{ body: string }> => {
        throw Object.assign(new PermanentError("sold out"), { statusCode: 410 });
      },
      { ...options, scope: "public" },
    );

    const first = await handler(event, context());

    expect(first).toMatchObject({ statusCode: 410 });
    expect(JSON.parse(first.body)).toMatchObject({ detail: "sold out", name: "PermanentError" });
    expect(await handler(event, context())).toEqual(first);
  });

  it("throws any other final error on, first and replayed, whatever its status", async () => {
    const { options, context } = given();
    const handler = httpIdempotent(
      async () => {
        throw Object.assign(new Error("no money"), { statusCode: 402, expose: true });
      },
      { ...options, scope: "public", isFinalError: () => true },
    );

    for (let calls = 0; calls < 2; calls++) {
      await expect(handler(event, context())).rejects.toMatchObject({ message: "no money", statusCode: 402 });
    }
  });

  it("logs the message of a status that means that the server is at fault", async () => {
    const { options, context } = given();
    const handler = httpIdempotent(
      async () => {
        throw new PermanentError("no printer", { statusCode: 501, name: "NoPrinter" });
      },
      { ...options, scope: "public" },
    );

    await handler(event, context());

    expect(logged.map((line) => JSON.parse(line))).toEqual([
      { level: "ERROR", code: "PERMANENT", status: 501, operation: options.operation, message: "no printer" },
    ]);
  });

  it("answers with the status if the error could not be recorded", async () => {
    const { options, context } = given();
    const handler = httpIdempotent(
      async () => {
        throw new PermanentError("no money", declined);
      },
      { ...options, scope: "public", isFinalError: () => false },
    );

    expect(await handler(v1Event({ headers: event.headers }), context())).toMatchObject({ statusCode: 402 });
  });
});

describeOnMiddies("httpIdempotency", (middy) => {
  it("answers a PermanentError with a status, whatever an inner error hook makes of it", async () => {
    const { options, context, states } = given();
    const run = vi.fn(async () => {
      throw new PermanentError("no money", declined);
    });
    const handler = middy()
      .use(httpIdempotency({ ...options, scope: "public" }))
      .use({
        onError: async (request) => {
          request.response = { statusCode: 500, body: "caught" };
        },
      })
      .handler(run as never);
    const call = () => handler(event as never, context()) as Promise<unknown>;

    const first = await call();

    expect(first).toMatchObject({ statusCode: 402 });
    expect(await call()).toEqual(first);
    expect(run).toHaveBeenCalledTimes(1);
    expect(states()).toEqual(["failed"]);
  });
});
