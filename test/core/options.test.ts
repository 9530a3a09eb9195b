import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock, systemRandom } from "../../lib/core/clock.ts";
import { InvalidOptionError, PermanentError } from "../../lib/core/errors.ts";
import { DEFAULTS, ENGINE_CHECKS, type EngineOptions, MIN_RENEWED_SECONDS } from "../../lib/core/options.ts";
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
  allowLongRetention: { good: [true, false], bad: ["true", 1, null] },
  keepSteps: { good: [true, false], bad: ["true", 1, null] },
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
      expect(() => given({ [name]: value })).toThrow(`\`${name}\` ${rule} (got `);
    },
  );

  it.each(["operation", "store"])("requires %s", (name) => {
    expect(() => given({ [name]: undefined })).toThrow(`\`${name}\` must be`);
  });

  it.each([undefined, null, 7, "pay"])("refuses %s in place of options", (options) => {
    expect(() => resolveOptions(options as unknown as EngineOptions)).toThrow("`options` must be an object");
  });

  it.each([
    [{ operation: "undefined-orders" }, '`operation` contains "undefined" or a similar text'],
    [{ mode: "optimistic", whenAbandoned: "hold" }, "`whenAbandoned` isn't supported in optimistic mode"],
    [
      { whenStoreFails: "run", whenAbandoned: "hold" },
      '`whenAbandoned` can\'t be combined with `whenStoreFails: "run"`',
    ],
  ])("refuses %j, and says why", (options, message) => {
    expect(() => given(options as object)).toThrow(message);
  });

  it("names an unknown option before a missing one: it may be that one, misspelt", () => {
    const misspelt = { operaton: "pay" } as unknown as EngineOptions;

    expect(() => resolveOptions(misspelt)).toThrow("`operaton` isn't an option (did you mean `operation`?)");
  });

  it("refuses an unknown option, and suggests the nearest one, or else lists them all", () => {
    expect(() => given({ retentionSecond: 5 })).toThrow(
      "`retentionSecond` isn't an option (did you mean `retentionSeconds`?)",
    );
    expect(() => given({ ttl: 5 })).toThrow(
      "`ttl` isn't an option (valid options: operation, store, fingerprint",
    );
    expect(() => given({ toString: 5 })).toThrow("`toString` isn't an option");
  });

  it.each(Object.keys(DEFAULTS))("an explicit undefined keeps the default of %s", (name) => {
    const resolved = given({ [name]: undefined }) as unknown as Record<string, unknown>;
    const value = DEFAULTS[name as keyof typeof DEFAULTS];

    if (name === "fingerprint") expect(resolved.fingerprints).toEqual([value]);
    else expect(resolved[name]).toBe(value);
  });

  it.each([31_622_401, 86_400_000, 315_360_000])(
    "treats a retention of %d seconds as milliseconds, unless `allowLongRetention` confirms it",
    (retentionSeconds) => {
      const refused = `\`retentionSeconds\` must be a number of seconds between 1 and 31622400 (366 days), unless \`allowLongRetention\` is true (got ${retentionSeconds}; did you mean ${retentionSeconds / 1000}?)`;

      expect(() => given({ retentionSeconds })).toThrow(refused);
      expect(() => given({ retentionSeconds, allowLongRetention: false })).toThrow(refused);
      expect(given({ retentionSeconds, allowLongRetention: true })).toMatchObject({ retentionSeconds });
    },
  );

  it.each([
    [{ leaseSeconds: 90_000 }, "(got 90000; did you mean 90?)"],
    [{ retentionSeconds: 604_800_000 }, "(got 604800000; did you mean 604800?)"],
    [{ whenInProgress: { waitSeconds: 3000 } }, "(got an object; did you mean { waitSeconds: 3 }?)"],
    [{ leaseSeconds: 90_000_000_000 }, "(got 90000000000)"],
    [{ mode: "optimstic" }, '(got a string of 9 characters; did you mean "optimistic"?)'],
    [{ mode: "fast" }, "(got a string of 4 characters)"],
    [{ whenStoreFails: "Run" }, '(got a string of 3 characters; did you mean "run"?)'],
  ])("suggests for %j what was probably meant", (options, text) => {
    expect(() => given(options)).toThrow(text);
  });

  describe("a number of milliseconds in place of seconds", () => {
    const lines: string[] = [];
    beforeEach(() => {
      lines.length = 0;
      vi.spyOn(console, "warn").mockImplementation((line: string) => void lines.push(line));
    });
    afterEach(() => {
      vi.restoreAllMocks();
    });

    it.each([
      [
        { retentionSeconds: 3_600_000 },
        '`retentionSeconds: 3600000` of "ms" is 41.7 days; did you mean 3600 seconds?',
      ],
      [{ leaseSeconds: 30_000 }, '`leaseSeconds: 30000` of "ms" is 8.3 hours; did you mean 30 seconds?'],
      [{ leaseSeconds: 5000 }, '`leaseSeconds: 5000` of "ms" is 1.4 hours; did you mean 5 seconds?'],
      [
        { whenInProgress: { waitSeconds: 500 } },
        '`waitSeconds: 500` of "ms" is 8.3 minutes; did you mean 0.5 seconds?',
      ],
    ])("is logged once for %j", (options, text) => {
      for (let call = 0; call < 2; call++) given({ operation: "ms", ...options });

      expect(lines).toEqual([`onceonly: ${text}`]);
    });

    it.each([
      { retentionSeconds: 2_592_000 },
      { leaseSeconds: 3600 },
      { leaseSeconds: 18_000 },
      { leaseSeconds: 4000 },
      { leaseSeconds: 5001 },
      { leaseSeconds: 900 },
      { whenInProgress: { waitSeconds: 3 } },
      { whenInProgress: { waitSeconds: 300 } },
      { whenInProgress: "reject" as const },
    ])("isn't what %j is", (options) => {
      given({ operation: "ms", ...options });

      expect(lines).toEqual([]);
    });
  });

  it.each([
    [{ mode: "optimistic", leaseSeconds: 60 }, "never"],
    [{ leaseSeconds: 60, renewLease: false }, "never"],
    [{ leaseSeconds: 60, renewLease: true }, "always"],
    [{ leaseSeconds: 60 }, "untimed"],
    [{ leaseSeconds: MIN_RENEWED_SECONDS }, "untimed"],
    [{ leaseSeconds: MIN_RENEWED_SECONDS - 1 }, "never"],
  ])("outside of Lambda renews the lease for %j: %s", (options, renewal) => {
    expect(given(options as object).renewal).toBe(renewal);
  });

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
