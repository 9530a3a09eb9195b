// The rules that tables of options consist of: what each says, which values it accepts, and which value was probably meant.
import { describe, expect, it } from "vitest";
import {
  aFunction,
  areStepNames,
  type Check,
  checkMethods,
  checkOptions,
  instance,
  isNamed,
  isStepName,
  methods,
  oneOf,
  seconds,
  text,
} from "../../lib/core/option-checks.ts";
import { ENGINE_CHECKS } from "../../lib/core/options.ts";

const accepts = ([, holds]: Check, values: readonly unknown[]) => values.map((value) => holds(value));

describe("oneOf", () => {
  it("lists its values, and accepts only them", () => {
    const check = oneOf("low", "mid", "high", 7, false);

    expect(check[0]).toBe('must be "low", "mid", "high", 7 or false');
    expect(accepts(check, ["low", 7, false, "7", "", undefined])).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it("guesses a misspelt word, and nothing else", () => {
    const [, , explicit, meant] = oneOf("reject", "run", 7);

    expect(explicit).toBeUndefined();
    expect(["rejct", "rum", "something else", 8].map((value) => meant?.(value))).toEqual([
      '"reject"',
      '"run"',
      undefined,
      undefined,
    ]);
  });
});

describe("seconds", () => {
  it("accepts numbers within its bounds", () => {
    const check = seconds(1, 600);

    expect(check[0]).toBe("must be a number of seconds between 1 and 600");
    expect(accepts(check, [1, 600, 0.999, 601, "5", Number.NaN])).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  it("guesses milliseconds from a number that is too large", () => {
    const [, , , meant] = seconds(1, 600);

    expect([30_000, "30000", 601, 600, 0.5].map((value) => meant?.(value))).toEqual([
      30,
      30,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("guesses nothing from a number within its bounds that would be one after a division too", () => {
    expect(seconds(0.001, 600)[3]?.(600)).toBeUndefined();
  });
});

describe("methods and instance", () => {
  const one = { send: () => 1 };

  it("say what the object needs", () => {
    const checks = [
      methods("send"),
      methods("send", "close"),
      instance("a client", "send"),
      instance("a client", "send", "close"),
    ];

    expect(checks.map(([rule]) => rule)).toEqual([
      "must be an object with the method send",
      "must be an object with the methods send, close",
      "must be a client; it needs the method send",
      "must be a client; it needs the methods send, close",
    ]);
  });

  it("accept an object with all of the methods", () => {
    expect(accepts(methods("send"), [one, {}, null, undefined, { send: 1 }])).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
    expect(accepts(methods("send", "close"), [one, { ...one, close: () => 2 }])).toEqual([false, true]);
  });

  it("checkMethods names the argument, the rule and the value it got", () => {
    expect(() => checkMethods("client", one, ["send"], "a client")).not.toThrow();
    expect(() => checkMethods("client", {}, ["send"], "a client")).toThrow(
      "`client` must be a client; it needs the method send",
    );
  });
});

describe("names", () => {
  it.each([
    ["pay", true],
    ["undefinedness", true],
    ["predefined", true],
    ["xundefined", true],
    ["undefined-orders", false],
    ["orders-Undefined", false],
    ["orders.undefined.paid", false],
    ["undefined", false],
  ])("isNamed(%j) is %s", (name, wanted) => {
    expect(isNamed(name)).toBe(wanted);
  });

  it.each([
    ["reserve", true],
    ["x".repeat(64), true],
    ["x".repeat(65), false],
    ["", false],
    ["a\0b", false],
    ["toString", false],
    ["\ud800", false],
    [7, false],
  ])("a step can be named %j: %s", (name, wanted) => {
    expect(isStepName(name)).toBe(wanted);
    expect(areStepNames([name])).toBe(wanted);
  });

  it("areStepNames accepts an array only", () => {
    expect([areStepNames([]), areStepNames(["a", 7]), areStepNames("a")]).toEqual([true, false, false]);
  });

  it("text says how long it may be", () => {
    expect(text(64)[0]).toBe("must be a string of 1 to 64 characters");
  });
});

describe("checkOptions", () => {
  const checks = { key: aFunction, scope: aFunction };

  it.each([
    [["key"], "`options` must be an object such as { key: … }"],
    [["key", "scope"], "`options` must be an object such as { key: …, scope: … }"],
    [[], "`options` must be an object (got a string"],
  ])("shows what has to be given: %j", (required, wanted) => {
    expect(() => checkOptions("text" as never, checks, required)).toThrow(wanted);
  });

  it("counts an option that is undefined as not given", () => {
    expect(() => checkOptions({ mode: undefined }, { mode: ENGINE_CHECKS.mode }, [])).not.toThrow();
  });

  it("takes an explicit undefined for a value only if the rule says so", () => {
    const explicit = { scope: [aFunction[0], aFunction[1], "explicit"] as Check };

    expect(() => checkOptions({ scope: undefined }, checks, [])).not.toThrow();
    expect(() => checkOptions({ scope: undefined }, explicit, [])).toThrow("`scope` must be a function");
  });
});
