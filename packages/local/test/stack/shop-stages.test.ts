// An app of today's `cdk init`: several stacks in two stages, with weak references between them.
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type RunningStack, startStack } from "../../lib/index.ts";
import { type Assembly, synthesize } from "../../lib/stack/synthesize.ts";

const folder = fileURLToPath(new URL("../../../../test/fixtures/shop-stages", import.meta.url));
const dynamodbEndpoint = inject("dynamodbEngines")[0]?.endpoint;

let assembly: Assembly;
let stack: RunningStack;
beforeAll(async () => {
  assembly = await synthesize({ folder, context: {}, signal: new AbortController().signal });
  stack = await startStack({ folder: assembly.folder, dynamodbEndpoint });
});
afterAll(async () => {
  await stack?.stop();
  await assembly?.remove();
});

async function sell(stage: string, key: string): Promise<unknown> {
  const response = await fetch(`${stack.outputs[`${stage}/Services/Url`]}/sales`, {
    method: "POST",
    headers: { "idempotency-key": key },
    body: JSON.stringify({ article: "tea" }),
  });
  const body = response.ok ? await response.json() : await response.text();
  return { status: response.status, replayed: response.headers.has("idempotent-replayed"), body };
}

describe("startStack with an app of stages", () => {
  it("runs all stacks of all stages, also of one name, and names the replica", () => {
    expect(Object.keys(stack.functions)).toEqual(["Beta/Services/Sell", "Prod/Services/Sell"]);
    expect(Object.keys(stack.tables)).toEqual([
      "Beta/Data/Sales",
      "Beta/Data/Records",
      "Prod/Data/Sales",
      "Prod/Data/Records",
    ]);
    expect(new Set(Object.values(stack.tables).map(({ name }) => name)).size).toBe(4);
    expect(stack.functions["Prod/Services/Sell"]?.arn).toMatch(/^arn:aws:lambda:eu-west-1:000000000000:/);
    expect(stack.notRun).toEqual([
      expect.stringMatching(/^AWS::DynamoDB::GlobalTable Prod\/Data\/Sales .* its replicas \(eu-central-1\)/),
    ]);
  });

  it("gives each stage the tables of its own data stack, and handles a repeated request once in each", async () => {
    const first = { status: 201, replayed: false, body: { sold: 1 } };

    expect(await sell("Beta", "key-1")).toEqual(first);
    expect(await sell("Prod", "key-1")).toEqual(first);
    expect(await sell("Prod", "key-1")).toEqual({ ...first, replayed: true });
    expect(await sell("Beta", "key-1")).toEqual({ ...first, replayed: true });
  });

  it("runs the stacks of the requested stage, and lists all for a stage that doesn't exist", async () => {
    const one = await startStack({ folder: assembly.folder, dynamodbEndpoint, stacks: ["Prod"] });

    expect(Object.keys(one.functions)).toEqual(["shop-services/Sell"]);
    await one.stop();
    const none = startStack({ folder: assembly.folder, dynamodbEndpoint, stacks: ["Test"] });
    await expect(none).rejects.toThrow(
      "the app has no stack or stage Test: choose one of Beta/Data, Beta/Services, Prod/Data, Prod/Services",
    );
  });
});
