// Final errors of odd make: each is recorded, so that the effect before it happens once, and each adapter says the same
// again.
import { httpIdempotent, idempotency, idempotent, idempotentBatch, PermanentError, runOnce } from "onceonly";
import { describe, expect, it } from "vitest";
import { describeOnMiddies } from "../../kit/middies.ts";
import { answered, sqsRecord } from "../batch/given.ts";
import { given } from "../given.ts";
import { v2Event } from "../http/given.ts";

const permanent = (change: object = {}) => Object.assign(new PermanentError("sold out"), change);

/** What is thrown, and the message of its replay. */
const ODD: readonly (readonly [title: string, make: () => unknown, message: string])[] = [
  ["frozen", () => Object.freeze(permanent()), "sold out"],
  ["sealed", () => Object.seal(permanent()), "sold out"],
  ["not extensible", () => Object.preventExtensions(permanent({ code: "SOLD_OUT" })), "sold out"],
  [
    "frozen, of a class of its own",
    () => Object.freeze(new (class SoldOut extends PermanentError {})("sold out")),
    "sold out",
  ],
  ["without a message that is text: a number", () => permanent({ message: 7 }), "an object was thrown"],
  [
    "without a message that is text: an object",
    () => permanent({ message: { card: 1 } }),
    "an object was thrown",
  ],
  ["without a message that is text: a bigint", () => permanent({ message: 7n }), "an object was thrown"],
  [
    "without a message that is text: nothing",
    () => permanent({ message: undefined }),
    "an object was thrown",
  ],
  [
    "with a message that cannot be read",
    () =>
      Object.defineProperty(permanent(), "message", {
        get: () => {
          throw new Error();
        },
      }),
    "an object was thrown",
  ],
  [
    "frozen, with a message that isn't a string",
    () => Object.freeze(permanent({ message: null })),
    "an object was thrown",
  ],
  [
    "with its own fields in the way",
    () => permanent({ keyHash: 7, retryable: "yes", stack: 7, name: 7 }),
    "sold out",
  ],
];

describe.each(ODD)("a final error that is %s", (_, make, message) => {
  const counted = () => {
    const base = given();
    let runs = 0;
    const fail = async (): Promise<never> => {
      runs++;
      throw make();
    };
    return { ...base, fail, runs: () => runs };
  };
  const thrownBy = (call: () => Promise<unknown>) =>
    call().then(
      () => "nothing",
      (error: unknown) => error,
    );

  it("is recorded by runOnce, and replayed", async () => {
    const { options, fail, runs, states } = counted();
    const call = () => runOnce({ ...options, leaseSeconds: 30 }, "k", {}, fail);

    const [first, replayed] = [await thrownBy(call), await thrownBy(call)];

    expect(first).toBeInstanceOf(PermanentError);
    expect(replayed).toMatchObject({ message });
    expect(runs()).toBe(1);
    expect(states()).toEqual(["failed"]);
  });

  it("is recorded by idempotent and httpIdempotent, and replayed", async () => {
    for (const isHttp of [false, true]) {
      const { options, context, fail, runs, states } = counted();
      const handler = isHttp
        ? httpIdempotent(fail, { ...options, scope: "public" })
        : idempotent(fail, { ...options, key: () => "k" });
      const call = () => handler(v2Event({ headers: { "Idempotency-Key": "k" } }), context());

      const [first, replayed] = [await thrownBy(call), await thrownBy(call)];

      expect(first).toBeInstanceOf(PermanentError);
      expect(replayed).toMatchObject({ message });
      expect(runs()).toBe(1);
      expect(states()).toEqual(["failed"]);
    }
  });

  it("is recorded by idempotentBatch, and returned each time", async () => {
    const { options, context, fail, runs, states } = counted();
    const handler = idempotentBatch(fail, { ...options, onRecordError: () => {} });
    const deliver = async () =>
      (await answered(handler({ Records: [sqsRecord("m1")] }, context()))).batchItemFailures.length;

    expect([await deliver(), await deliver()]).toEqual([1, 1]);
    expect(runs()).toBe(1);
    expect(states()).toEqual(["failed"]);
  });
});

describeOnMiddies("idempotency", (middy) => {
  it.each(ODD)("records a final error that is %s, and replays it", async (_, make, message) => {
    const { options, context, states } = given();
    let runs = 0;
    const handler = middy(async () => {
      runs++;
      throw make();
    }).use(idempotency({ ...options, key: () => "k" }));

    await expect(handler({}, context())).rejects.toBeInstanceOf(PermanentError);
    await expect(handler({}, context())).rejects.toMatchObject({ message });
    expect(runs).toBe(1);
    expect(states()).toEqual(["failed"]);
  });
});
