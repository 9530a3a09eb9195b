// What a function gets when it bundles an entry: no constructs, no framework, and little of ours.
import { gzipSync } from "node:zlib";
import type { Metafile } from "esbuild";
import { describe, expect, it } from "vitest";
import { bundled } from "../kit/bundled.ts";

/**
 * The most bytes of a handler with DynamoDBStore, gzipped: all but the AWS SDK and Middy. The plan is 13.3 KB for
 * `idempotent` and 15 KB for `httpIdempotency`, which is not reached: docs/architecture.md lists the sizes.
 * The bounds go down where they can. The marshalling of values is in them, so that no package of the SDK beside its client
 * is needed.
 */
const MAX_GZIP_BYTES = {
  runOnce: 36_400,
  idempotent: 39_300,
  idempotency: 40_100,
  httpIdempotent: 43_250,
  httpIdempotency: 44_100,
} as const;

const PEERS = ["@aws-sdk/*", "@middy/*", "@opentelemetry/*"];

const HTTP_HANDLER = `
  import middy from "@middy/core";
  import { callerFromJwt, httpIdempotency } from "onceonly";
  import { DynamoDBStore } from "onceonly/dynamodb";

  const store = new DynamoDBStore({ tableName: process.env.IDEMPOTENCY_TABLE });

  export const handler = middy()
    .use(httpIdempotency({ operation: "create-order", store, scope: callerFromJwt() }))
    .handler(async (event, context) => {
      const response = { statusCode: 201, body: JSON.stringify({ id: context.idempotency.key }) };
      return context.idempotency.commit(response, { writes: [] });
    });`;

const sdkClient = (service: string) => `@aws-sdk/client-${service}`;

const runtimeEntries: readonly (readonly [entry: string, file: string, peers: readonly string[]])[] = [
  ["onceonly", "lib/index.ts", []],
  ["onceonly/agents", "lib/agents/index.ts", []],
  ["onceonly/client", "lib/client/index.ts", []],
  ["onceonly/consumers", "lib/consumers/index.ts", []],
  ["onceonly/dynamodb", "lib/dynamodb/index.ts", [sdkClient("dynamodb")]],
  ["onceonly/durable", "lib/durable/index.ts", []],
  ["onceonly/http", "lib/http/index.ts", []],
  ["onceonly/lean", "lib/lean/index.ts", []],
  ["onceonly/messaging", "lib/messaging/index.ts", ["eventbridge", "scheduler", "sns", "sqs"].map(sdkClient)],
  ["onceonly/otel", "lib/observe/otel/index.ts", ["@opentelemetry/api"]],
  ["onceonly/postgres", "lib/postgres/index.ts", []],
  ["onceonly/reconciler", "lib/reconciler/index.ts", []],
  ["onceonly/store-kit", "lib/store-kit.ts", []],
  ["onceonly/stores", "lib/stores/index.ts", []],
  ["onceonly/testing", "lib/testing/index.ts", []],
  ["onceonly/valkey", "lib/valkey/index.ts", []],
];

describe.each(runtimeEntries)("%s", (entry, file, peers) => {
  it("bundles without aws-cdk-lib and constructs", async () => {
    const { inputs } = await bundle(`export * from "${entry}";`);
    const paths = Object.keys(inputs);

    expect(paths).toContain(file);
    expect(paths.filter((path) => /aws-cdk-lib|constructs|lib\/(cdk|local)\//.test(path))).toEqual([]);
  });

  it("imports nothing at run time but Node and the peers it names", async () => {
    const { outputs } = await bundle(`export * from "${entry}";`, PEERS);
    const imported = Object.values(outputs).flatMap((output) => output.imports.map(({ path }) => path));

    expect([...new Set(imported)].filter((path) => !path.startsWith("node:")).sort()).toEqual(peers);
  });
});

describe.each(Object.entries(MAX_GZIP_BYTES))("a handler with %s and DynamoDBStore", (name, most) => {
  it(`carries at most ${most} bytes of our code, gzipped`, async () => {
    const entry = `export { DynamoDBStore } from "onceonly/dynamodb"; export { ${name} } from "onceonly";`;
    const { outputs, gzipBytes } = await bundle(entry, PEERS);
    const byFolder = bytesIn(outputs, (path) => /^lib\/\w+/.exec(path)?.[0]);
    const report = `minified:\n${listing(byFolder)}\n\n${listing(bytesIn(outputs, ownFile))}`;

    console.log(
      `own code of ${name} with its store: ${gzipBytes} bytes gzipped, ${sum(byFolder.values())} minified`,
    );
    expect(gzipBytes).toBeGreaterThan(0);
    expect(gzipBytes, report).toBeLessThanOrEqual(most);
  });
});

describe("a handler with httpIdempotency and DynamoDBStore", () => {
  it("carries no metrics, batches, relay, producers or durable functions, which it does not use", async () => {
    const { outputs } = await bundle(HTTP_HANDLER, PEERS);
    const files = [...bytesIn(outputs, ownFile).keys()];

    expect(files.filter((file) => /^lib\/(observe|messaging|lambda\/batch|durable)\//.test(file))).toEqual(
      [],
    );
  });

  it("carries no other package", async () => {
    const { outputs } = await bundle(HTTP_HANDLER, PEERS);
    const packages = bytesIn(outputs, (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]);

    expect([...packages.keys()]).toEqual([]);
  });
});

interface Bundle extends Metafile {
  readonly gzipBytes: number;
}

async function bundle(source: string, external: string[] = []): Promise<Bundle> {
  const { metafile, outputFiles } = await bundled(source, external);
  const gzipBytes = sum(outputFiles.map(({ contents }) => gzipSync(contents, { level: 9 }).byteLength));
  return { ...metafile, gzipBytes };
}

function ownFile(path: string): string | undefined {
  return path.startsWith("lib/") ? path : undefined;
}

/** Bytes in the output by group, the largest first; inputs without a group are left out. */
function bytesIn(
  outputs: Metafile["outputs"],
  groupOf: (path: string) => string | undefined,
): Map<string, number> {
  const bytes = new Map<string, number>();
  for (const { inputs } of Object.values(outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const group = groupOf(path);
      if (group !== undefined) bytes.set(group, (bytes.get(group) ?? 0) + bytesInOutput);
    }
  }
  return new Map([...bytes].sort(([, left], [, right]) => right - left));
}

function listing(bytes: ReadonlyMap<string, number>): string {
  return [...bytes].map(([name, count]) => `${String(count).padStart(7)}  ${name}`).join("\n");
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, next) => total + next, 0);
}
