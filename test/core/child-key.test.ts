import { describe, expect, it } from "vitest";
import { type ChildKeyLimits, deriveChildKey } from "../../lib/core/child-key.ts";
import { InvalidOptionError } from "../../lib/core/errors.ts";
import { identify } from "../../lib/core/identity.ts";
import { newWorld } from "./world.ts";

const identity = identify("pay", "tenant", "key");

describe("deriveChildKey", () => {
  it("is the same for every attempt of one operation", async () => {
    const world = newWorld();
    const keys: string[] = [];

    await world
      .call(async ({ childKey }) => {
        keys.push(childKey("charge"));
        throw new Error("again");
      })
      .catch(() => {});
    await world.call(async ({ childKey }) => keys.push(childKey("charge")));

    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  it("differs by name, key, scope and operation", () => {
    const keys = [
      deriveChildKey(identity, "charge"),
      deriveChildKey(identity, "mail"),
      deriveChildKey(identify("pay", "tenant", "key-2"), "charge"),
      deriveChildKey(identify("pay", "tenant-2", "key"), "charge"),
      deriveChildKey(identify("refund", "tenant", "key"), "charge"),
    ];

    expect(new Set(keys).size).toBe(keys.length);
  });

  it("stays the same from release to release", () => {
    expect(deriveChildKey(identity, "charge")).toBe("hUqda3w7CWc8oq0csDgMUfZl3a2ixyQLFyHiO1cuwX4");
    expect(deriveChildKey(identity, "charge", { format: "hex" })).toBe(
      "854a9d6b7c3b09673ca2ad1cb0380c51f665ddada2c7240b1721e23b572ec17e",
    );
  });

  it.each([
    [{}, /^[\w-]{43}$/],
    [{ maxLength: 30 }, /^[\w-]{30}$/],
    [{ maxLength: 22 }, /^[\w-]{22}$/],
    [{ maxLength: 255 }, /^[\w-]{43}$/],
    [{ format: "text" }, /^[\w-]{43}$/],
    [{ format: "hex" }, /^[0-9a-f]{64}$/],
    [{ format: "hex", maxLength: 40 }, /^[0-9a-f]{40}$/],
    [{ format: "hex", maxLength: 32 }, /^[0-9a-f]{32}$/],
    [{ format: undefined, maxLength: undefined }, /^[\w-]{43}$/],
  ] as [ChildKeyLimits, RegExp][])("with %j has the form %s", (limits, form) => {
    expect(deriveChildKey(identity, "charge", limits)).toMatch(form);
  });

  it.each([
    ["charge", { maxLength: 21 }, "`maxLength` must be a number of at least 22"],
    ["charge", { format: "hex", maxLength: 31 }, "`maxLength` must be a number of at least 32"],
    ["charge", { maxLength: Number.NaN }, "`maxLength`"],
    ["charge", { maxLength: "64" as unknown as number }, "`maxLength`"],
    ["charge", { format: "uuid" as "hex" }, "`format`"],
    ["", {}, "`name`"],
    ["\ud800", {}, "`name`"],
    ["n".repeat(256), {}, "`name`"],
    [undefined as unknown as string, {}, "`name`"],
    ["charge", null as unknown as ChildKeyLimits, "`limits`"],
    ["charge", 32 as ChildKeyLimits, "`limits`"],
    [
      "charge",
      { maxlength: 32 } as ChildKeyLimits,
      "`maxlength` isn't an option of `childKey` (did you mean `maxLength`?)",
    ],
    [
      "charge",
      { x: 1 } as ChildKeyLimits,
      "`x` isn't an option of `childKey` (valid options: maxLength, format)",
    ],
  ] as [string, ChildKeyLimits, string][])("refuses the name %j with %j", (name, limits, message) => {
    expect(() => deriveChildKey(identity, name, limits)).toThrow(InvalidOptionError);
    expect(() => deriveChildKey(identity, name, limits)).toThrow(message);
  });
});
