// Payloads that would exhaust stack, memory or time.
import { describe, expect, it } from "vitest";
import { PayloadInvalidError } from "../../lib/core/errors.ts";
import { fingerprintOf } from "../../lib/core/fingerprint.ts";

describe("fingerprintOf", () => {
  it.each(["[", '{"a":'])(
    "H18: refuses a payload of depth 100,000 in %s without running out of stack",
    (open) => {
      const close = open === "[" ? "]" : "}";
      const deep: unknown = JSON.parse(
        `${open.repeat(100_000)}${open === "[" ? "" : "1"}${close.repeat(100_000)}`,
      );

      const begin = performance.now();
      expect(() => fingerprintOf(deep)).toThrow("nested deeper than 500 levels");
      expect(performance.now() - begin).toBeLessThan(5000);
    },
  );

  it("H18: accepts the same depth however much of the stack is in use", () => {
    const nest = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));
    const withFrames = (frames: number): string =>
      frames === 0 ? fingerprintOf(nest(501)) : withFrames(frames - 1);

    expect(withFrames(2000)).toBe(withFrames(0));
    expect(() => fingerprintOf(nest(502))).toThrow(PayloadInvalidError);
  });

  it.each([
    ["one string", () => ({ text: "x".repeat(6_000_000) })],
    ["many numbers", () => Array.from({ length: 850_000 }, (_, index) => index)],
    ["many objects", () => Array.from({ length: 300_000 }, (_, index) => ({ a: index, b: "x" }))],
    ["many names", () => Object.fromEntries(Array.from({ length: 500_000 }, (_, index) => [`k${index}`, 1]))],
  ])("H18: needs bounded time for 6 MB of %s", (_, payload) => {
    const begin = performance.now();

    expect(fingerprintOf(payload())).toMatch(/^1:/);

    expect(performance.now() - begin).toBeLessThan(20_000);
  });

  it("H18: gives one fingerprint or none wherever the stack ends", () => {
    const payload = JSON.parse(`{"a":${"[".repeat(450)}1${"]".repeat(450)}}`);
    const fingerprints = new Set<string>();
    const refusals = new Set<string>();
    const exhaustStack = (): void => {
      try {
        exhaustStack();
      } catch {
        // The stack has ended some frames below.
      }
      try {
        fingerprints.add(fingerprintOf(payload));
      } catch (error) {
        refusals.add((error as Error).name);
      }
    };

    exhaustStack();

    expect([...fingerprints]).toEqual([fingerprintOf(payload)]);
    expect(refusals).toContain("PayloadInvalidError");
  });
});
