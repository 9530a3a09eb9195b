import { describe, expect, it } from "vitest";
import { nearest, suggestion } from "../../lib/core/nearest.ts";

const OPTIONS = ["operation", "store", "mode", "retentionSeconds", "key"];

describe("nearest", () => {
  it.each([
    ["operaton", "operation"],
    ["operationn", "operation"],
    ["operetion", "operation"],
    ["opeartion", "operation"],
    ["opeartoin", "operation"],
    ["OPERATION", "operation"],
    ["retentionSecond", "retentionSeconds"],
    ["stroe", "store"],
    ["modes", "mode"],
    ["keys", "key"],
    ["retention", "retentionSeconds"],
    ["ope", "operation"],
  ])("finds for %s the option %s", (given, meant) => {
    expect(nearest(given, OPTIONS)).toBe(meant);
  });

  it("counts letters as swapped only if both are there", () => {
    expect(nearest("abxyef", ["abyzef"])).toBe("abyzef");
    expect(nearest("abxyc", ["abywc"])).toBeUndefined();
    expect(nearest("abxyc", ["abwxc"])).toBeUndefined();
  });

  it.each(["x", "ke", "more2", "ttl", "opration2s", ""])("finds nothing for %s", (given) => {
    expect(nearest(given, OPTIONS)).toBeUndefined();
  });

  it("prefers the candidate with fewer mistakes, whatever their order", () => {
    expect(nearest("writes", ["write", "writes"])).toBe("writes");
    expect(nearest("messagge", ["massage", "message"])).toBe("message");
  });
});

describe("suggestion", () => {
  it("names what was probably meant, or else everything valid", () => {
    expect(suggestion("operaton", OPTIONS, "valid options")).toBe("(did you mean `operation`?)");
    expect(suggestion("x", ["maxLength", "format"], "valid options")).toBe(
      "(valid options: maxLength, format)",
    );
  });
});
