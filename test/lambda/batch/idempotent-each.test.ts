// Arrays of AppSync's BatchInvoke (a direct Lambda resolver with `maxBatchSize`), and of a pipe that enriches its records.
// https://docs.aws.amazon.com/appsync/latest/devguide/resolver-mapping-template-reference-lambda.html
import { type EachOptions, idempotentEach, PermanentError } from "onceonly";
import { afterEach, beforeEach, describe, expect, it, type Mock, vi } from "vitest";
import { given } from "../given.ts";
import { sqsRecord } from "./given.ts";

interface Resolve {
  arguments: { requestId: string; sku?: string };
}

/** A context object of AppSync; a client's retry has other headers. */
const resolve = (requestId: string, sku = "tea", delivery = 1) => ({
  arguments: { requestId, sku },
  identity: { sub: "ann", sourceIp: [`192.0.2.${delivery}`], claims: { iat: delivery } },
  source: { id: "parent" },
  request: { headers: { "x-amzn-trace-id": `Root=${delivery}` }, domainName: null },
  prev: null,
  info: { fieldName: "price", parentTypeName: "Order", variables: {}, selectionSetList: [] },
  stash: {},
});

let logged: Mock;
beforeEach(() => {
  logged = vi.spyOn(console, "error").mockImplementation(() => {}) as unknown as Mock;
});
afterEach(() => {
  vi.restoreAllMocks();
});

function givenResolver(more: Partial<EachOptions<Resolve, never, "appsync">> = {}) {
  const world = given();
  const runs: string[] = [];
  const failing = new Map<string, unknown>();
  const handler = idempotentEach(
    async ({ arguments: { requestId } }: Resolve) => {
      runs.push(requestId);
      if (failing.has(requestId)) throw failing.get(requestId);
      return { price: runs.length };
    },
    {
      ...world.options,
      key: ({ arguments: { requestId } }: Resolve) => requestId,
      answers: "appsync",
      ...(more as object),
    },
  );
  return { ...world, runs, failing, handler };
}

describe("idempotentEach for AppSync's BatchInvoke", () => {
  it("R3: runs each item once, and answers in the order of the items, also when the array comes again", async () => {
    const { handler, context, runs } = givenResolver({ concurrency: 1 });
    const first = await handler([resolve("a"), resolve("b"), resolve("c")], context());

    expect(first).toEqual([{ data: { price: 1 } }, { data: { price: 2 } }, { data: { price: 3 } }]);
    expect(await handler([resolve("c", "tea", 2), resolve("a", "tea", 2)], context())).toEqual([
      { data: { price: 3 } },
      { data: { price: 1 } },
    ]);
    expect(runs).toEqual(["a", "b", "c"]);
  });

  it("R3: answers an item that fails with its message and name, runs only that one again, and logs it", async () => {
    const { handler, context, runs, failing } = givenResolver();
    const items = [resolve("a"), resolve("b")];
    failing.set("b", new RangeError("too expensive"));

    const [, failed] = await handler(items, context());
    expect(failed).toEqual({ data: null, errorMessage: "too expensive", errorType: "RangeError" });
    expect(logged).toHaveBeenCalledExactlyOnceWith(
      'onceonly: item 2 of 2 failed (operation "create-order"):',
      failing.get("b"),
    );

    failing.clear();
    expect((await handler(items, context()))[1]).toEqual({ data: { price: 3 } });
    expect(runs).toEqual(["a", "b", "b"]);
  });

  it("R3: replays a final error with the name that the handler chose", async () => {
    const { handler, context, runs, failing } = givenResolver();
    failing.set("a", new PermanentError("no tea is left", { name: "OutOfStock" }));
    const answer = { data: null, errorMessage: "no tea is left", errorType: "OutOfStock" };

    expect(await handler([resolve("a")], context())).toEqual([answer]);
    expect(await handler([resolve("a")], context())).toEqual([answer]);
    expect(runs).toEqual(["a"]);
  });

  it("R3: never answers a failure that AppSync would read as a success", async () => {
    for (const thrown of [
      new Error(""),
      Object.assign(new Error(), { name: "Quiet" }),
      undefined,
      "text",
      {},
    ]) {
      const { handler, context, failing } = givenResolver();
      failing.set("a", thrown);
      const [answer] = await handler([resolve("a")], context());

      expect(answer).toEqual({
        data: null,
        errorMessage: expect.stringMatching(/./),
        errorType: expect.stringMatching(/./),
      });
    }
  });

  it("R3: answers duplicates in one array alike, more of them than may wait, and refuses one with other arguments", async () => {
    const { handler, context, runs } = givenResolver();
    const items = [...Array.from({ length: 40 }, () => resolve("a")), resolve("a", "coffee"), resolve("b")];

    const answers = await handler(items, context());

    expect(answers.slice(0, 40)).toEqual(Array(40).fill(answers[0]));
    expect(answers[40]).toMatchObject({ data: null, errorType: "FingerprintMismatchError" });
    expect(answers[41]).toEqual({ data: { price: 2 } });
    expect(runs).toEqual(["a", "b"]);
  });

  it("R3: fails for an item without a key, and for something else than an item, and answers the others", async () => {
    const { handler, context } = givenResolver();
    const items = [null, resolve("a"), resolve(undefined as never), resolve("b"), 7] as Resolve[];

    const answers = await handler(items, context());

    expect(answers.map(({ data }) => data !== null)).toEqual([false, true, false, true, false]);
    expect(answers[2]).toMatchObject({ errorType: "IdempotencyKeyMissingError" });
  });

  it("R3: has one answer for each item, whatever the handler returns", async () => {
    const world = given();
    const results: unknown[] = [undefined, null, [1, 2], "text", 0];
    const handler = idempotentEach((index: number) => results[index] as never, {
      ...world.options,
      key: (index: number) => `item-${index}`,
      answers: "appsync",
    });

    expect(await handler([0, 1, 2, 3, 4], world.context())).toEqual(
      [null, null, [1, 2], "text", 0].map((data) => ({ data })),
    );
    expect(await handler([], world.context())).toEqual([]);
  });

  it("R3: returns and throws as a single resolver for an event that isn't an array", async () => {
    const { handler, context, failing } = givenResolver();
    failing.set("b", new Error("no"));

    expect(await handler(resolve("a"), context())).toEqual({ price: 1 });
    expect(await handler([resolve("a")], context())).toEqual([{ data: { price: 1 } }]);
    await expect(handler(resolve("b"), context())).rejects.toThrow("no");
  });

  it("R3: runs `concurrency` items at a time", async () => {
    const world = given();
    let running = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++running);
      await world.clock.sleep(100);
      running -= 1;
    };
    const handler = idempotentEach(work, { ...world.options, key: String, concurrency: 3 });

    await world.clock.run(handler(Array.from({ length: 10 }, (_, index) => index) as never, world.context()));

    expect(most).toBe(3);
  });
});

describe("idempotentEach for the enrichment of a pipe", () => {
  it("R2: returns the results in order, and throws if one fails, because a pipe retries the whole batch", async () => {
    const world = given();
    const runs: string[] = [];
    let fails = true;
    const handler = idempotentEach(
      ({ messageId, body }: { messageId: string; body: string }) => {
        runs.push(body);
        if (fails && body === "b") throw new Error("no");
        return { messageId, eventSource: "aws:sqs", body: body.toUpperCase() };
      },
      { ...world.options, key: ({ body }) => body },
    );
    const records = (delivery: number) =>
      ["a", "b", "c"].map((body) => sqsRecord(body, body, { receiptHandle: `receipt ${delivery}` }));

    await expect(handler(records(1), world.context())).rejects.toThrow("no");
    expect(logged).not.toHaveBeenCalled();
    fails = false;

    expect((await handler(records(2), world.context())).map(({ body }) => body)).toEqual(["A", "B", "C"]);
    expect(runs).toEqual(["a", "b", "c", "b"]);
  });
});

describe("idempotentEach", () => {
  it("is refused with a wrong option, and without a handler", () => {
    const { options } = given();
    const right = { ...options, key: String };
    const make = (handler: unknown, more: unknown) => () => idempotentEach(handler as never, more as never);

    expect(make(() => {}, { ...right, answers: "list" })).toThrow('`answers` must be "results" or "appsync"');
    expect(make(() => {}, { ...right, concurrency: 0 })).toThrow("`concurrency` must be a whole number");
    expect(make(() => {}, { ...right, returns: "outcome" })).toThrow("`returns` isn't an option");
    expect(make(() => {}, options)).toThrow("`key` must be a function that reads it");
    expect(make(right, () => {})).toThrow("`handler` must be a function, and comes before the options");
    expect(idempotentEach(() => {}, right).name).toBe("create-order");
  });
});
