import { describe, expect, it } from "vitest";
import { readTraceparent, traceparentFromXRay } from "../../lib/core/traceparent.ts";

const VALID = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const ROOT = "1-4bf92f35-77b34da6a3ce929d0e0e4736";

describe("readTraceparent", () => {
  it.each([VALID, VALID.replace(/^00/, "01")])("accepts %s", (value) => {
    expect(readTraceparent(value)).toBe(value);
  });

  it.each([
    [undefined],
    [[VALID]],
    [`${VALID} `],
    [VALID.replace(/^00/, "ff")],
    [VALID.replace(/4bf92f3577b34da6a3ce929d0e0e4736/, "0".repeat(32))],
    [VALID.replace(/00f067aa0ba902b7/, "0".repeat(16))],
    [VALID.toUpperCase()],
  ])("leaves out %j", (value) => {
    expect(readTraceparent(value)).toBeUndefined();
  });
});

describe("traceparentFromXRay", () => {
  it.each([
    [`Root=${ROOT};Parent=00f067aa0ba902b7;Sampled=1`, VALID],
    [`Self=x; Parent=00f067aa0ba902b7; Root=${ROOT}; Sampled=0`, VALID.replace(/01$/, "00")],
    [`Root=${ROOT};Parent=00f067aa0ba902b7`, VALID.replace(/01$/, "00")],
    [`Root=${ROOT};Sampled=1`, undefined],
    [`Root=2${ROOT};Parent=00f067aa0ba902b7`, undefined],
    [`Root=${ROOT}0;Parent=00f067aa0ba902b7`, undefined],
    ["Parent=00f067aa0ba902b7", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("converts %j", (header, wanted) => {
    expect(traceparentFromXRay(header)).toBe(wanted);
  });
});
