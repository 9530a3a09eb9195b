import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isOnceonlyError,
  PermanentError,
  RecordCorruptError,
  ResponseNotStorableError,
  StoreUnavailableError,
} from "../../lib/core/errors.ts";
import {
  decodeError,
  decodeResult,
  encodeError,
  encodeResult,
  refusesContent,
} from "../../lib/core/outcome.ts";
import { newWorld } from "./world.ts";

const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withTypedArray: true,
  withSparseArray: true,
  withNullPrototype: true,
  withObjectString: true,
  withBoxedValues: true,
});

describe("encodeResult", () => {
  it("H16: of any value, the first answer equals the replay, or it is refused before it is stored", async () => {
    await fc.assert(
      fc.asyncProperty(anything, async (value) => {
        const world = newWorld();
        let runs = 0;
        const work = async () => {
          runs++;
          return value;
        };

        const first = await world.call(work).catch((error) => error);
        const replay = await world.call(work).catch((error) => error);

        expect(runs).toBe(1);
        if (first instanceof ResponseNotStorableError) {
          expect(replay).toBeInstanceOf(PermanentError);
          expect(replay).toMatchObject({ code: "RESPONSE_NOT_STORABLE", message: first.message });
        } else expect(replay).toStrictEqual(first);
      }),
      { numRuns: 500 },
    );
  });

  it("H16: stores what the handler returned, except for -0 and undefined properties", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        expect(decodeResult(encodeResult(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
    expect(decodeResult(encodeResult({ a: undefined, b: -0 }))).toStrictEqual({ b: 0 });
  });

  it("keeps undefined, which isn't JSON", () => {
    expect(encodeResult(undefined)).toBeUndefined();
    expect(decodeResult(undefined)).toBeUndefined();
  });

  it("keeps strings with a lone surrogate, which JSON can escape, and integers of any size", () => {
    expect(decodeResult(encodeResult({ "\ud800": "\udc00" }))).toEqual({ "\ud800": "\udc00" });
    expect(decodeResult(encodeResult(2 ** 60))).toBe(2 ** 60);
  });

  const cycle: Record<string, unknown> = { list: [] };
  (cycle.list as unknown[]).push(cycle);

  it.each([
    ["a BigInt", { total: 10n }, "$.total is a bigint"],
    ["a Date", { at: new Date(0) }, "$.at is a"],
    ["a class", [new (class Order {})()], "$.0 is a Order: convert it first"],
    ["a class without a name", new (class {})(), "$ is a class instance: convert it first"],
    ["an error", new Error("e"), "$ is a Error: convert it first"],
    ["NaN", { "": { a: Number.NaN } }, "$..a is NaN, which JSON would turn into null"],
    ["a function", { a: { b: [0, () => 1] } }, "$.a.b.1 is a function"],
    ["toJSON", { toJSON: () => 1 }, "$ is an object with toJSON"],
    [
      "inherited toJSON",
      Object.create(Object.create(null, { toJSON: { value: () => 1 } })),
      "$ is a class instance: convert it first",
    ],
    ["a list with a name", Object.assign([1], { total: 1 }), "$ is an array with holes or named properties"],
    ["a symbol as a name", { [Symbol("a")]: 1 }, "$ is an object with symbol keys"],
    ["a cycle", cycle, "is a reference to itself"],
    ["a stream", new ReadableStream(), "$ is a ReadableStream"],
  ])("H16: rejects %s, and names the place", (_, value, message) => {
    expect(() => encodeResult(value)).toThrow(ResponseNotStorableError);
    expect(() => encodeResult(value)).toThrow(message);
  });

  it("keeps one object that is used twice", () => {
    const shared = { id: 1 };

    expect(decodeResult(encodeResult([shared, shared, { shared }]))).toEqual([shared, shared, { shared }]);
  });

  it("accepts plain objects from any realm and without a prototype", () => {
    expect(encodeResult(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}');
  });
});

describe("decodeResult", () => {
  it("fails closed on a string that isn't JSON", () => {
    expect(() => decodeResult("{")).toThrow(RecordCorruptError);
    expect(() => decodeResult("{")).toThrow(expect.not.objectContaining({ cause: expect.anything() }));
  });
});

const replayOf = (thrown: unknown) => decodeError(encodeError(thrown, false)).error;

describe("encodeError and decodeError", () => {
  it("keeps name, message, code, status and expose, and nothing else", () => {
    const error = Object.assign(new TypeError("sold out", { cause: "secret" }), {
      code: "SOLD_OUT",
      statusCode: 409,
      expose: true,
      secret: "secret",
    });

    const text = encodeError(error, false);
    const { error: replayed } = decodeError(text);

    expect(text).not.toContain("secret");
    expect(replayed).toBeInstanceOf(PermanentError);
    expect(isOnceonlyError(replayed)).toBe(true);
    expect({ ...replayed, message: replayed.message }).toMatchObject({
      name: "TypeError",
      message: "sold out",
      code: "SOLD_OUT",
      statusCode: 409,
      expose: true,
    });
  });

  it("keeps the code of a PermanentError that has no code itself", () => {
    expect(replayOf(new PermanentError("no"))).toMatchObject({
      name: "PermanentError",
      message: "no",
      code: "PERMANENT",
    });
  });

  it.each([
    ["text", "sold out", "sold out"],
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["an object without a prototype", Object.create(null), "an object was thrown"],
    ["an object with a message", { message: "declined", statusCode: 402 }, "declined"],
    ["an object", {}, "an object was thrown"],
    ["an object whose name and message are no text", { name: 1, message: 7 }, "an object was thrown"],
  ])("keeps %s that was thrown as an error with a message", (_, thrown, message) => {
    expect(replayOf(thrown)).toMatchObject({ name: "Error", message });
  });

  it("never fails itself, whatever the error contains", () => {
    const hostile = {
      code: 10n,
      statusCode: { toJSON: () => 1 },
      get message(): string {
        throw new Error("getter");
      },
    };

    expect(replayOf(hostile)).toMatchObject({
      name: "Error",
      message: "an object was thrown",
      code: "PERMANENT",
    });
    expect(replayOf(Object.create(null))).toMatchObject({ message: "an object was thrown" });
    expect(replayOf({ message: "plain", code: "X" })).toMatchObject({
      message: "plain",
      code: "X",
    });
    expect(replayOf(Symbol("s"))).toMatchObject({ message: "Symbol(s)" });
  });

  it("H77: keeps the error's origin, which no code or field of the error itself can fake", () => {
    const forged = Object.assign(new ResponseNotStorableError("no"), { isOurs: true });

    expect(decodeError(encodeError(forged, false))).toEqual({ error: expect.anything(), isOurs: false });
    expect(decodeError(encodeError(forged, true))).toEqual({ error: expect.anything(), isOurs: true });
    expect(decodeError(encodeError(forged, true)).error).not.toHaveProperty("isOurs");
    expect(decodeError('{"message":"no","isOurs":"yes"}').isOurs).toBe(false);
  });

  it.each([undefined, "null", "{}", '{"message":1}', "7", "{"])("fails closed on %s", (text) => {
    expect(() => decodeError(text)).toThrow(RecordCorruptError);
  });
});

it("refusesContent is true only for a store's error about a text that was written", () => {
  const refusal = Object.assign(new StoreUnavailableError("refused", undefined), { refusesContent: true });
  const foreign = Object.assign(new TypeError("not the store's"), { refusesContent: true });

  expect(refusesContent(refusal, "text")).toBe(true);
  expect(refusesContent(refusal, undefined)).toBe(false);
  expect(refusesContent(foreign, "text")).toBe(false);
  expect(refusesContent(new StoreUnavailableError("refused", undefined), "text")).toBe(false);
});
