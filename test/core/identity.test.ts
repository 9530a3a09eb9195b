import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IdempotencyKeyInvalidError, ScopeMissingError } from "../../lib/core/errors.ts";
import { fingerprintOf } from "../../lib/core/fingerprint.ts";
import {
  hashTuple,
  identify,
  keyCreatedAt,
  keyFault,
  MAX_KEY_LENGTH,
  MAX_SCOPE_LENGTH,
  namesOf,
  scopeFault,
} from "../../lib/core/identity.ts";
import { newWorld } from "./world.ts";

/** Short texts full of what separates and escapes, so that a weak encoding collides. */
const delimiters = fc.string({
  unit: fc.constantFrom("#", "%", ":", "/", "2", "3", "5", "a", "\u0001", "ä", "\u{1f511}"),
  maxLength: 8,
});
const tuple = fc.tuple(
  delimiters.filter((operation) => operation.length > 0),
  delimiters.filter((scope) => scope === "" || scopeFault(scope) === undefined),
  delimiters.filter((key) => keyFault(key) === undefined),
);

describe("identify", () => {
  it("H20: gives different tuples different record keys, whatever they are made of", () => {
    fc.assert(
      fc.property(tuple, tuple, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);

        const [first, second] = [identify(...one), identify(...other)];

        expect(first.recordKey === second.recordKey).toBe(isSame);
        expect(first.keyHash === second.keyHash).toBe(isSame);
      }),
      { numRuns: 5000 },
    );
  });

  it("H20: distinguishes tuples that only differ in where one part ends", () => {
    const recordKeys = [
      identify("a", "b", "c"),
      identify("a", "bc", "c"),
      identify("ab", "", "c"),
      identify("a", "", "bc"),
      identify("a#b", "", "c"),
      identify("a", "#b", "c"),
      identify("a%23b", "", "c"),
    ].map(({ recordKey }) => recordKey);

    expect(new Set(recordKeys).size).toBe(recordKeys.length);
  });

  it("keeps operation and scope readable in front, and exactly two bare separators", () => {
    fc.assert(
      fc.property(tuple, ([operation, scope, key]) => {
        const { recordKey, keyHash } = identify(operation, scope, key);

        const [first, second, third, ...others] = recordKey.split("#");
        expect(others).toEqual([]);
        expect(decodeURIComponent(first!)).toBe(operation);
        expect(decodeURIComponent(second!)).toBe(scope);
        expect(third).toBe(keyHash);
        expect(recordKey).not.toMatch(/\p{Cc}/u);
      }),
    );
  });

  it("stays within the 2048 bytes of a DynamoDB partition key at the longest", () => {
    const longest = identify(
      "\u0080".repeat(64),
      `a${"\u0080".repeat(MAX_SCOPE_LENGTH - 1)}`,
      "\u{1f511}".repeat(127),
    );

    expect(Buffer.byteLength(longest.recordKey)).toBeLessThanOrEqual(2048);
  });

  it("shows nothing of the key", () => {
    const { recordKey, keyHash } = identify("pay", "tenant", "secret-key");

    expect(recordKey).not.toContain("secret");
    expect(keyHash).toMatch(/^[\w-]{43}$/);
  });

  it("is frozen", () => {
    expect(Object.isFrozen(identify("a", "b", "c"))).toBe(true);
  });

  it.each([
    ["empty", ""],
    ["too long", "k".repeat(MAX_KEY_LENGTH + 1)],
    ["with a line break", "a\nb"],
    ["with a C1 control character", "a\u0085b"],
    ["with a lone surrogate", "a\ud800"],
    ["no text", 7 as unknown as string],
    ["absent", undefined as unknown as string],
  ])("refuses a key that is %s, and does not repeat it", (_, key) => {
    expect(() => identify("pay", "tenant", key)).toThrow(IdempotencyKeyInvalidError);
    expect(() => identify("pay", "tenant", key)).toThrow(
      "the idempotency key must be a string of 1 to 255 characters without control characters",
    );
  });

  it.each([
    ["an empty string", "", "got an empty string"],
    ["300 characters", "k".repeat(300), "got a string of 300 characters; use its SHA-256 instead"],
    ["a lone surrogate", "a\ud800", "got a string with a lone surrogate"],
    ["a line break", "4111\n", "got a string with a control character, such as a line break; trim it"],
    ["nothing", undefined, "got undefined"],
    ["null", null, "got null"],
    ["a number", 4111, "got a number; convert it, such as with `String(id)`"],
    ["a bigint", 4111n, "got a bigint; convert it, such as with `String(id)`"],
    ["a boolean", true, "got a boolean"],
    ["a symbol", Symbol("4111"), "got a symbol"],
    ["a function", () => "4111", "got a function; call it"],
    ["a list", ["4111"], "got an array; join the fields that identify the operation into one string"],
    [
      "an object",
      { id: "4111" },
      "got an object; join the fields that identify the operation into one string",
    ],
    ["a promise", Promise.resolve("4111"), "got a promise; keys aren't awaited"],
  ])("describes a key that is %s, and says what to do", (_, key, why) => {
    const refused = expect.objectContaining({
      code: "IDEMPOTENCY_KEY_INVALID",
      message: expect.stringMatching(/^(?!.*4111)/),
    });

    expect(() => identify("pay", "tenant", key as string)).toThrow(refused);
    expect(() => identify("pay", "tenant", key as string)).toThrow(`control characters (${why}`);
  });

  it("a promise in the place of a key or a scope that fails later does not end the process", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    const failing = () => Promise.reject(new Error("no such order")) as unknown as string;

    expect(() => identify("pay", "tenant", failing())).toThrow("got a promise");
    expect(() => identify("pay", failing(), "key")).toThrow("got a promise");
    expect(() => fingerprintOf(failing())).toThrow("returned a promise, and it isn't awaited");
    await new Promise(setImmediate);

    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  it.each([
    "undefined",
    "null",
    " NaN ",
    "None",
    "<nil>",
    "undefined/v4",
    "order/undefined",
    "order:null",
    "tenant#NaN#3",
    "a|undefined|b",
    "orders?id=undefined",
    "orders?id=null&v=2",
    "order undefined",
    "order-undefined",
    "order_undefined",
    "order.undefined",
    "order-[object Object]",
    "[object Promise]/v4",
    "report/Invalid Date",
  ])("H23: rejects the key %j, which contains the text of a missing value", (key) => {
    const why = "the idempotency key contains the text of a missing value";
    expect(() => identify("pay", "", key)).toThrow(IdempotencyKeyInvalidError);
    expect(() => identify("pay", "", key)).toThrow(why);
  });

  it.each([
    "undefined-behaviour",
    "undefined-7",
    "dev-null",
    "null-pointer",
    "nullable/7",
    "order/nullable",
    "undefinedOrder",
    "NaNa-4",
    "n/a",
    "Jennifer.Null@example.com",
    "None/v4",
    "[object 7]",
    "invalid date",
    "018bcfe5-6800-7000-8000-000000000000",
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "V1StGXR8_Z5jdHi6B-myT",
    "a-NaN-47DEQpj8HBSa_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
    "NaN/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3h=",
    "null/HBSa/TImW5JCeuQk4==",
  ])("accepts the key %j: names with hyphens, UUIDs and hashes are not missing values", (key) => {
    expect(identify("pay", "", key).key).toBe(key);
  });

  it("accepts every UUID, and the hashes of all strings in hex, base64url and base64", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.string(), (uuid, text) => {
        const hashed = (["hex", "base64url", "base64"] as const).map((form) =>
          createHash("sha256").update(text).digest(form),
        );
        expect([uuid, ...hashed].map(keyFault)).toEqual(Array(4).fill(undefined));
      }),
      { numRuns: 2000 },
    );
  });

  it("accepts the longest key, and spaces and emoji in it", () => {
    expect(identify("pay", "", "k".repeat(MAX_KEY_LENGTH)).key).toHaveLength(MAX_KEY_LENGTH);
    expect(identify("pay", "", "a key \u{1f511}").key).toBe("a key \u{1f511}");
  });

  it("reports the type of a scope that isn't a string", () => {
    expect(() => identify("pay", 7 as unknown as string, "key")).toThrow(
      "the scope must be a string of at most 256 characters (got 7)",
    );
  });

  it.each([
    ["no text", 7 as unknown as string],
    ["too long", "s".repeat(MAX_SCOPE_LENGTH + 1)],
    ["with a lone surrogate", "\udc00"],
  ])("refuses a scope that is %s", (_, scope) => {
    expect(() => identify("pay", scope, "key")).toThrow(ScopeMissingError);
  });

  it.each([
    "undefined",
    "null",
    "NaN",
    " null\t",
    "[object Object]",
    "tenant-[object Promise]",
    "undefined|user-7",
    "acme/null",
    "None",
    "<nil>",
    " ",
    "\t\n",
    "\u00a0\u2003",
    "\u200b\ufeff\u2060",
    "\u0000",
    "\u0301",
  ])("H76: refuses the scope %j, which stands for no caller", (scope) => {
    expect(() => identify("pay", scope, "key")).toThrow(
      expect.objectContaining({
        code: "SCOPE_MISSING",
        message: expect.stringContaining("doesn't identify a caller"),
      }),
    );
  });

  it.each([
    "undefined-behaviour",
    "nullable",
    "Nan",
    "dev-null",
    "0",
    "-",
    "null@example.com",
    "\u{1f511}",
    "名",
  ])("accepts the scope %j", (scope) => {
    expect(identify("pay", scope, "key").scope).toBe(scope);
  });

  it("H19: the same key in two operations, tenants or stages runs once in each", async () => {
    const world = newWorld();
    const run = async ({ attempt }: { attempt?: number | undefined }) => attempt;

    await world.call(run, { operation: "pay" }, { scope: "tenant-1" });
    await world.call(run, { operation: "refund" }, { scope: "tenant-1" });
    await world.call(run, { operation: "pay" }, { scope: "tenant-2" });
    await world.call(run, { operation: "pay-test" }, { scope: "tenant-1" });

    expect(world.decisions()).toEqual(["executed", "executed", "executed", "executed"]);
    expect(world.memory.records.size).toBe(4);
  });

  it("H21: another tenant's key looks like a new one, whatever state it is in", async () => {
    for (const work of [
      async () => ({ secret: 1 }),
      async () => {
        throw new Error("released");
      },
    ]) {
      const world = newWorld();
      await world.call(work, {}, { scope: "tenant-b" }).catch(() => {});
      const before = world.events.length;

      const answer = await world.call(async () => "mine", {}, { scope: "tenant-a", input: "other" });

      expect(answer).toBe("mine");
      expect(world.events.slice(before).map(({ decision, attempt }) => [decision, attempt])).toEqual([
        ["executed", 1],
      ]);
    }
  });
});

it("identify stays the same from release to release, or every record would be forgotten", () => {
  expect(identify("create-order", "tenant-1", "key-1").keyHash).toBe(
    "v6J9OHwJtDL4bDt1-nLqfm-Y-uR-8UZW4tpiy8yhGCw",
  );
});

describe("namesOf", () => {
  it("reads operation, scope and hash of every record key", () => {
    fc.assert(
      fc.property(tuple, ([operation, scope, key]) => {
        const { recordKey, keyHash } = identify(operation, scope, key);

        expect(namesOf(recordKey)).toEqual({ operation, scope, keyHash });
      }),
    );
  });

  it.each([
    ["", { operation: "", scope: "", keyHash: "" }],
    ["another table's key", { operation: "another table's key", scope: "", keyHash: "" }],
    ["100 %#a#b", { operation: "", scope: "", keyHash: "" }],
  ])("reads %j, which isn't one of ours", (recordKey, names) => {
    expect(namesOf(recordKey)).toEqual(names);
  });
});

describe("hashTuple", () => {
  it("counts a string and its UTF-8 bytes as the same part", () => {
    expect(hashTuple("ä", "b")).toBe(hashTuple(new TextEncoder().encode("ä"), "b"));
  });

  it("hashes at once what a hash object gets part by part, including lone surrogates and long strings", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\ud800", "ä".repeat(9000), "😀"));
    const part = fc.oneof(text, fc.uint8Array({ maxLength: 40 }));
    const partByPart = (parts: readonly (string | Uint8Array)[]) => {
      const hash = createHash("sha256");
      for (const each of parts) {
        const bytes = typeof each === "string" ? Buffer.from(each) : each;
        hash.update(`${bytes.byteLength}:`).update(bytes);
      }
      return hash.digest("base64url");
    };

    fc.assert(
      fc.property(fc.array(part), (parts) => {
        expect(hashTuple(...parts)).toBe(partByPart(parts));
      }),
    );
  });

  it("distinguishes tuples of different length", () => {
    expect(new Set([hashTuple(), hashTuple(""), hashTuple("", ""), hashTuple("0:")]).size).toBe(4);
  });
});

describe("keyCreatedAt", () => {
  it("reads the time of a UUIDv7 in either case", () => {
    expect(keyCreatedAt("018bcfe5-6800-7000-8000-000000000000")).toBe(1_700_000_000_000);
    expect(keyCreatedAt("018BCFE5-6800-7FFF-BFFF-FFFFFFFFFFFF")).toBe(1_700_000_000_000);
  });

  it.each([
    "018bcfe5-6800-4000-8000-000000000000",
    "018bcfe5-6800-7000-c000-000000000000",
    "018bcfe5-6800-7000-8000-000000000000 ",
    "urn:uuid:018bcfe5-6800-7000-8000-000000000000",
    "order-1",
  ])("knows no time of %s", (key) => {
    expect(keyCreatedAt(key)).toBeUndefined();
  });
});
