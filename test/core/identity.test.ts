import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IdempotencyKeyInvalidError, ScopeMissingError } from "../../lib/core/errors.ts";
import {
  hashTuple,
  identify,
  keyCreatedAt,
  keyFault,
  MAX_KEY_LENGTH,
  MAX_SCOPE_LENGTH,
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

  it("H20: tells tuples apart that only differ in where one part ends", () => {
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
      "the idempotency key must be well-formed text of 1 to 255 characters without control characters",
    );
  });

  it("accepts the longest key, and spaces and emoji in it", () => {
    expect(identify("pay", "", "k".repeat(MAX_KEY_LENGTH)).key).toHaveLength(MAX_KEY_LENGTH);
    expect(identify("pay", "", "a key \u{1f511}").key).toBe("a key \u{1f511}");
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
      expect.objectContaining({ code: "SCOPE_MISSING", message: expect.stringContaining("no caller") }),
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
  ])("takes the scope %j", (scope) => {
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

  it("H21: another tenant's key cannot be told from a new one, whatever state it is in", async () => {
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

describe("hashTuple", () => {
  it("counts text and its UTF-8 bytes as the same part", () => {
    expect(hashTuple("ä", "b")).toBe(hashTuple(new TextEncoder().encode("ä"), "b"));
  });

  it("hashes in one go what a hash object is given part by part, lone surrogates and long text included", () => {
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

  it("tells tuples of different length apart", () => {
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
