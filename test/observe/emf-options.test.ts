import { readFileSync } from "node:fs";
import { emfMetrics } from "onceonly";
import { afterEach, describe, expect, it, vi } from "vitest";
import { METRICS } from "../../lib/contract.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("the options of emfMetrics", () => {
  const TOO_LONG = "x".repeat(256);

  it.each([
    ["an empty service", "service", ""],
    ["a blank service", "service", " "],
    ["a service beyond ASCII", "service", "naïve"],
    ["a service of two lines", "service", "a\nb"],
    ["a service of 256 characters", "service", TOO_LONG],
    ["an empty namespace", "namespace", ""],
    ["a namespace that starts with a colon", "namespace", ":orders"],
    ["a namespace of AWS", "namespace", "AWS/Lambda"],
    ["a namespace of 256 characters", "namespace", TOO_LONG],
    ["a namespace that is a number", "namespace", 1],
    ["a place to write to that is no function", "write", "stdout"],
    ["a clock without a time", "clock", {}],
    ["an option that it does not know", "servise", "shop"],
  ])("refuse %s", (_title, option, value) => {
    const message = expect.stringContaining(`\`${option}\``);

    expect(() => emfMetrics({ [option]: value })).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message }),
    );
  });

  it.each([
    ["no options", undefined],
    ["a service of 255 characters", { service: TOO_LONG.slice(1) }],
    ["an option that is undefined", { service: undefined }],
    ["a namespace with blanks, slashes and colons", { namespace: "AWS: shop/orders #1" }],
  ])("accept %s", (_title, options) => {
    expect(() => emfMetrics(options)).not.toThrow();
  });

  it("have the defaults that they document", () => {
    const source = readFileSync(new URL("../../lib/observe/emf-metrics.ts", import.meta.url), "utf8");
    const defaults = Object.fromEntries(
      [...source.matchAll(/@default (.+)\n\s+\*\/\n\s+readonly (\w+)\?/g)].map(([, text, name]) => [
        name,
        text,
      ]),
    );

    expect(defaults).toEqual({
      service: JSON.stringify(METRICS.service),
      namespace: JSON.stringify(METRICS.namespace),
      write: "- standard output",
    });
  });

  it("write to standard output by default, and not to the console, which Lambda replaces", () => {
    const written: unknown[] = [];
    vi.spyOn(process.stdout, "write").mockImplementation((text) => written.push(text) > 0);
    const log = vi.spyOn(console, "log");

    emfMetrics()({ decision: "executed", operation: "create-order", durationMs: 12 });

    vi.restoreAllMocks();
    expect(written).toEqual([expect.stringMatching(/^\{.*\}\n$/)]);
    expect(log).not.toHaveBeenCalled();
  });
});
