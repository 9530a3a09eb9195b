// emfMetrics is loaded only where it is used: whoever bundles a handler without it carries nothing of it.
import { describe, expect, it } from "vitest";
import { METRICS } from "../../lib/contract.ts";
import { bundled } from "../kit/bundled.ts";

function handlerSource(observe: string): string {
  return `
    import { ${observe === "" ? "" : "emfMetrics, "}httpIdempotent } from "onceonly";
    import { DynamoDBStore } from "onceonly/dynamodb";
    const store = new DynamoDBStore({ tableName: "records" });
    export const handler = httpIdempotent(() => ({ statusCode: 201 }), {
      operation: "create-order", store, scope: "public", ${observe}
    });`;
}

/** The bundle, and how many bytes of it are of lib/observe. */
async function bundle(observe: string) {
  const { metafile, outputFiles } = await bundled(handlerSource(observe), ["@aws-sdk/*"]);
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  const ofObserve = inputs.filter(([path]) => path.startsWith("lib/observe/"));
  const bytes = ofObserve.reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0);
  return { text: outputFiles[0]!.text, bytes };
}

describe("a bundled HTTP handler", () => {
  it("carries nothing of the metrics without emfMetrics", async () => {
    const { text, bytes } = await bundle("");

    expect(bytes).toBe(0);
    expect(text).not.toContain(METRICS.outboxLag);
    expect(text).not.toContain("CloudWatchMetrics");
  });

  it("carries them with it", async () => {
    const { text, bytes } = await bundle("observe: emfMetrics({ service: 'shop' }),");

    console.log(`emfMetrics, minified: ${bytes} bytes`);
    expect(bytes).toBeGreaterThan(0);
    expect(text).toContain(METRICS.outboxLag);
  });
});
