import { describe, expect, test } from "vitest";
import { SampleStack } from "../../bin/sample-stack.ts";
import { nagFindings } from "./nag-given.ts";

describe("SampleStack", () => {
  test.each([
    ["as it is deployed for good", false],
    ["as it is tried out", true],
  ])("has no finding of the AwsSolutions rules, %s, and nothing to acknowledge", (_, ephemeral) => {
    const findings = nagFindings((app) => new SampleStack(app, "Sample", { ephemeral, tokenDigests: {} }));

    expect(findings).toEqual({ open: [], acknowledged: [] });
  });
});
