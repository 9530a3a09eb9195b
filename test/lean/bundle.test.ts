// A whole function without the SDK: how much there is, and that nothing of the SDK came along.
import { describe, expect, it } from "vitest";
import { bundled } from "../kit/bundled.ts";

/** Minified, all included. The plan is 55 KB; the bound goes down as the protocol's own code does. */
const MAX_BYTES = { idempotent: 113_800, httpIdempotent: 123_700 };

const FUNCTIONS = {
  idempotent: `
    import { idempotent } from "onceonly";
    import { DynamoDBStore } from "onceonly/lean";

    const store = new DynamoDBStore({ tableName: process.env.IDEMPOTENCY_TABLE });
    export const handler = idempotent(async (order, context) => ({ id: context.idempotency.key }), {
      operation: "create-order", store, key: (order) => order.id,
    });`,
  httpIdempotent: `
    import { callerFromJwt, httpIdempotent } from "onceonly";
    import { DynamoDBStore } from "onceonly/lean";

    const store = new DynamoDBStore({ tableName: process.env.IDEMPOTENCY_TABLE });
    export const handler = httpIdempotent(async () => ({ statusCode: 201 }), {
      operation: "create-order", store, scope: callerFromJwt(),
    });`,
} as const;

describe.each(Object.keys(FUNCTIONS) as (keyof typeof FUNCTIONS)[])("a lean function with %s", (adapter) => {
  it("carries nothing of the SDK", async () => {
    const { packages, bytes } = await partsOf(FUNCTIONS[adapter]);

    console.log(`a lean function with ${adapter}, all included, minified: ${bytes} bytes`);
    expect(packages).toEqual([]);
  });

  it("needs nothing but Node", async () => {
    const { imports } = await partsOf(FUNCTIONS[adapter]);

    expect(imports.filter((path) => !path.startsWith("node:"))).toEqual([]);
  });

  it("doesn't import Node's HTTP, whose exports take longer to read than all of the function", async () => {
    const { imports } = await partsOf(FUNCTIONS[adapter]);

    expect(imports.filter((path) => /^node:https?$/.test(path))).toEqual([]);
  });

  it(`has at most ${MAX_BYTES[adapter]} bytes`, async () => {
    const { bytes } = await partsOf(FUNCTIONS[adapter]);

    expect(bytes).toBeLessThanOrEqual(MAX_BYTES[adapter]);
  });
});

async function partsOf(contents: string) {
  const { metafile } = await bundled(contents);
  const outputs = Object.values(metafile.outputs);
  const files = outputs.flatMap(({ inputs }) => Object.keys(inputs));
  const packages = files.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
  return {
    bytes: outputs.reduce((sum, output) => sum + output.bytes, 0),
    packages: [...new Set(packages)].sort(),
    imports: outputs.flatMap((output) => output.imports.map(({ path }) => path)),
  };
}
