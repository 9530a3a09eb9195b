import { describe, expect, test } from "vitest";
import { SampleStack } from "../../bin/sample-stack.ts";
import { nagFindings } from "./nag-given.ts";

describe("SampleStack", () => {
  test.each([
    ["as it is deployed for good", false],
    ["as it is tried out", true],
  ])(
    "has no finding of the AwsSolutions rules, %s, and acknowledges only that executions have new names",
    (_, ephemeral) => {
      const findings = nagFindings((app) => new SampleStack(app, "Sample", { ephemeral, tokenDigests: {} }));

      expect(findings.open).toEqual([]);
      expect(findings.acknowledged).toEqual([
        expect.stringMatching(/^Sample\/FulfilOrder\/ExecutionRights.*durable-execution/),
        expect.stringMatching(/^Sample\/StartFulfilment\/ExecutionRights.*durable-execution/),
      ]);
    },
  );
});
