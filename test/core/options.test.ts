import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { systemClock, systemRandom } from "../../lib/core/clock.ts";
import { InvalidOptionError, PermanentError } from "../../lib/core/errors.ts";
import { checkOptions } from "../../lib/core/option-checks.ts";
import { DEFAULTS, ENGINE_CHECKS, type EngineOptions } from "../../lib/core/options.ts";
import { resolveOptions } from "../../lib/core/resolved-options.ts";
import { MemoryStore } from "../../lib/testing/index.ts";

const store = new MemoryStore();
const required = { operation: "pay", store } as const;
const given = (options: object) => resolveOptions({ ...required, ...options } as unknown as EngineOptions);

/** Each option with a value that is allowed and values that are not. */
const TABLE: Record<keyof EngineOptions, { good: readonly unknown[]; bad: readonly unknown[] }> = {
  operation: { good: ["p", "p".repeat(64)], bad: ["", "p".repeat(65), "\ud800", 7, null] },
  store: { good: [new MemoryStore()], bad: [{}, null, "store", { claim: () => {} }] },
  fingerprint: { good: [() => 1, [() => 1, () => 2]], bad: [[], "body", [() => 1, "body"], null] },
  retentionSeconds: { good: [1, 86_400, 31_622_400], bad: [0, -1, 315_360_001, "60", Number.NaN, Infinity] },
  longRetention: { good: [true, false], bad: ["true", 1, null] },
  leaseSeconds: { good: [0.001, 30, 86_400], bad: [0, -1, 86_401, "30", Number.NaN] },
  renewLease: { good: [true, false], bad: ["true", 1, null] },
  clockSkewSeconds: { good: [0, 5, 3600], bad: [-1, 3601, "5", Number.NaN] },
  mode: { good: ["claimed", "optimistic"], bad: ["fast", "", null] },
  lookFirst: { good: [true, false], bad: ["true", 1, null] },
  whenInProgress: {
    good: [
      "reject",
      { waitSeconds: 0 },
      { waitSeconds: 900 },
      { waitSeconds: 5, maxWaiters: 1 },
      { waitSeconds: 5, maxWaiters: 1000 },
      { waitSeconds: 5, maxWaiters: undefined },
    ],
    bad: [
      "wait",
      {},
      null,
      { waitSeconds: -1 },
      { waitSeconds: 901 },
      { waitSeconds: "5" },
      5,
      { maxWaiters: 5 },
      { waitSeconds: 5, maxWaiters: 0 },
      { waitSeconds: 5, maxWaiters: 1001 },
      { waitSeconds: 5, maxWaiters: 1.5 },
      { waitSeconds: 5, maxWaiter: 5 },
    ],
  },
  whenAbandoned: { good: ["run", "hold", () => ({ outcome: "unknown" })], bad: ["verify", true, null, {}] },
  steps: { good: [["charge"], []], bad: ["charge", [""], [1], [`${"a".repeat(65)}`]] },
  whenStoreFails: { good: ["reject", "run"], bad: ["ignore", true, null] },
  whenKeyExpired: { good: ["run", "reject"], bad: ["ignore", null] },
  keyFormat: { good: ["uuid", /order-\d+/], bad: ["UUID", "order-.*", "", null, 7, {}, [/a/]] },
  isFinalError: { good: [() => true], bad: [true, "PermanentError", null] },
  shouldStore: { good: [() => true], bad: [true, null] },
  traceparent: { good: [() => undefined], bad: ["00-0", {}, null] },
  observe: { good: [() => {}], bad: [{}, null] },
  clock: { good: [systemClock], bad: [{}, Date, null] },
  random: { good: [systemRandom], bad: [{ token: () => "" }, Math, null] },
};

describe("resolveOptions", () => {
  const rows = Object.entries(TABLE);

  it.each(rows.flatMap(([name, { good }]) => good.map((value) => [name, value] as const)))(
    "accepts %s: %j",
    (name, value) => {
      const resolved = given({ [name]: value }) as unknown as Record<string, unknown>;

      if (name === "fingerprint") expect(resolved.fingerprints).toEqual([value].flat());
      else if (name === "keyFormat") expect(resolved.keyPattern).toBeInstanceOf(RegExp);
      else expect(resolved[name]).toBe(value);
    },
  );

  it.each(rows.flatMap(([name, { bad }]) => bad.map((value) => [name, value] as const)))(
    "refuses %s: %j, naming option, rule and value",
    (name, value) => {
      const [rule] = ENGINE_CHECKS[name as keyof EngineOptions];

      expect(() => given({ [name]: value })).toThrow(InvalidOptionError);
      expect(() => given({ [name]: value })).toThrow(`option \`${name}\` ${rule}; got `);
    },
  );

  it.each(["operation", "store"])("requires %s", (name) => {
    expect(() => given({ [name]: undefined })).toThrow(`option \`${name}\` must be`);
  });

  it.each([undefined, null, 7, "pay"])("refuses %s in place of options", (options) => {
    expect(() => resolveOptions(options as unknown as EngineOptions)).toThrow(
      "option `options` must be an object",
    );
  });

  it("names an unknown option before a missing one: it may be that one, misspelt", () => {
    const misspelt = { operaton: "pay" } as unknown as EngineOptions;

    expect(() => resolveOptions(misspelt)).toThrow("option `operaton` is unknown");
  });

  it("refuses an unknown option, naming the known ones", () => {
    expect(() => given({ retentionSecond: 5 })).toThrow(
      "option `retentionSecond` is unknown: known are operation, store, fingerprint",
    );
    expect(() => given({ toString: 5 })).toThrow("option `toString` is unknown");
  });

  it.each(Object.keys(DEFAULTS))("an explicit undefined keeps the default of %s", (name) => {
    const resolved = given({ [name]: undefined }) as unknown as Record<string, unknown>;
    const value = DEFAULTS[name as keyof typeof DEFAULTS];

    if (name === "fingerprint") expect(resolved.fingerprints).toEqual([value]);
    else expect(resolved[name]).toBe(value);
  });

  it.each([31_622_401, 86_400_000, 315_360_000])(
    "takes a retention of %d seconds for milliseconds, unless `longRetention` says that it is meant",
    (retentionSeconds) => {
      const refused = `option \`retentionSeconds\` is in seconds (a day is 86400) and must be at most 31622400 (366 days), unless \`longRetention\` is true; got ${retentionSeconds} (number)`;

      expect(() => given({ retentionSeconds })).toThrow(refused);
      expect(() => given({ retentionSeconds, longRetention: false })).toThrow(refused);
      expect(given({ retentionSeconds, longRetention: true })).toMatchObject({ retentionSeconds });
    },
  );

  it("freezes what it resolved", () => {
    expect(Object.isFrozen(given({}))).toBe(true);
  });

  it("by default an error is final if it is a PermanentError of any copy of the package", () => {
    const { isFinalError } = given({});
    const foreign = (code: string) =>
      Object.assign(new Error("e"), { code, [Symbol.for("onceonly.error")]: true });

    expect(isFinalError(new PermanentError("no"))).toBe(true);
    expect(isFinalError(foreign("PERMANENT"))).toBe(true);
    expect(isFinalError(foreign("CLAIM_LOST"))).toBe(false);
    expect(isFinalError(Object.assign(new Error("e"), { code: "PERMANENT" }))).toBe(false);
    expect(isFinalError(undefined)).toBe(false);
  });

  it("by default stores every result and observes nothing", () => {
    expect(given({}).shouldStore(undefined)).toBe(true);
    expect(given({}).observe({ decision: "executed", operation: "pay", durationMs: 0 })).toBeUndefined();
  });
});

describe("the documented defaults", () => {
  const source = readFileSync(new URL("../../lib/core/options.ts", import.meta.url), "utf8");
  const block = source.slice(
    source.indexOf("interface EngineOptions"),
    source.indexOf("export type Fingerprinter"),
  );
  const documented = [...block.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*readonly (\w+)(\?)?:/g)].map(
    ([, comment = "", name = "", optional]) => ({
      name,
      isOptional: optional === "?",
      tag: /@default (.*?)\s*(?:\n|$)/.exec(comment)?.[1],
    }),
  );

  it("are read from every option", () => {
    expect(documented.map(({ name }) => name)).toEqual(Object.keys(ENGINE_CHECKS));
  });

  it.each(documented)("$name is documented as it is", ({ name, isOptional, tag }) => {
    const value = (DEFAULTS as Record<string, unknown>)[name];

    if (!isOptional || name === "observe") expect(tag).toBeUndefined();
    else if (tag?.startsWith("- "))
      expect(value === undefined || typeof value === "function" || typeof value === "object").toBe(true);
    else expect(tag?.replace(/ \(.*\)$/, "")).toBe(JSON.stringify(value));
  });
});

describe("checkOptions", () => {
  it("counts an option that is undefined as not given", () => {
    expect(() => checkOptions({ mode: undefined }, { mode: ENGINE_CHECKS.mode }, [])).not.toThrow();
  });
});
