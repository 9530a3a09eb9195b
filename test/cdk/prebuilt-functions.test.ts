// The functions that OutboxRelay brings along, as they are published: bundled, and run in processes of their own.
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type OutgoingMessage, runOnce } from "../../lib/index.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { queryAnswer, readQueryRequest } from "../../packages/explorer/lib/aws/sns/query-protocol.ts";
import { type SqsEngine, startSqs } from "../../packages/local/lib/sqs/start-sqs.ts";
import { newOutboxTable, type OutboxTable } from "../dynamodb/outbox-given.ts";
import { root } from "../kit/project.ts";
import { run } from "../kit/run.ts";
import { connect } from "../kit/tables.ts";
import { canned } from "../lean/world.ts";
import { isFull } from "../setup/tier.ts";

let folder: string;
let sqs: SqsEngine;
let queueUrl: string;
const [engine] = inject("dynamodbEngines");

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "prebuilt-"));
  await run(process.execPath, [join(root, "tools/prebuild.mjs"), join(folder, "dist")], folder);
  sqs = await startSqs();
  const Attributes = { FifoQueue: "true" };
  ({ QueueUrl: queueUrl = "" } = await sqs.model.call("CreateQueue", { QueueName: "to.fifo", Attributes }));
});

afterAll(async () => {
  await sqs.stop();
  await rm(folder, { recursive: true, force: true });
});

const fileIn = (dist = join(folder, "dist")) => join(dist, "functions/outbox/index.mjs");

describe("the bundle of the prebuilt functions", () => {
  it("imports nothing but Node", async () => {
    const { metafile } = await build({
      entryPoints: [fileIn()],
      bundle: true,
      write: false,
      metafile: true,
      platform: "node",
      format: "esm",
      packages: "external",
      logLevel: "silent",
    });
    const imported = Object.values(metafile.outputs).flatMap((output) => output.imports);

    expect(imported.length).toBeGreaterThan(0);
    expect(imported.filter(({ path }) => !/^(node:)?[a-z_/]+$/.test(path))).toEqual([]);
  });

  it("is the same wherever it is built, so its asset is too", async () => {
    const other = join(folder, "other");
    await run(process.execPath, [join(root, "tools/prebuild.mjs"), other], folder);

    expect((await readFile(fileIn(other))).equals(await readFile(fileIn()))).toBe(true);
  });
});

/** Calls the handler of a prebuilt function in a process of its own, as Lambda does; resolves to all it printed. */
async function invoke(
  name: "relay" | "sweeper",
  table: OutboxTable,
  event: unknown,
  more: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const call = `
    const { ${name}: handler } = await import(${JSON.stringify(fileIn())});
    console.log(JSON.stringify({ answer: await handler(${JSON.stringify(event)}) }));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", call], folder, {
    IDEMPOTENCY_TABLE: table.tableName,
    METRICS_SERVICE: "shop",
    OUTBOX_DESTINATIONS: '"any"',
    AWS_ENDPOINT_URL_DYNAMODB: engine!.endpoint,
    AWS_ENDPOINT_URL_SQS: sqs.endpoint,
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    ...more,
  });
  return stdout.trim().split("\n");
}

async function commit(
  key: string,
  agoMs: number,
  messages: readonly OutgoingMessage[] = [{ queue: queueUrl, key, group: key, body: { key } }],
): Promise<OutboxTable> {
  const table = await newOutboxTable(connect(engine!.endpoint), engine!.endpoint);
  const clock = fakeClock(Date.now() - agoMs);
  const options = { operation: "create-order", store: table.store, clock, leaseSeconds: 60 };
  await runOnce(options, key, {}, (execution) => execution.commit({}, { messages }));
  return table;
}

async function expectSent(table: OutboxTable, key: string): Promise<void> {
  const { Messages = [] } = await sqs.model.call("ReceiveMessage", {
    QueueUrl: queueUrl,
    MaxNumberOfMessages: 10,
  });
  expect(Messages.map(({ Body }) => Body)).toEqual([JSON.stringify({ key })]);
  for (const { ReceiptHandle } of Messages) {
    await sqs.model.call("DeleteMessage", { QueueUrl: queueUrl, ReceiptHandle });
  }
  const unsent = [];
  for (let shard = 0; shard < 8; shard++) {
    for await (const keys of table.outbox.findUnsent(shard, Date.now())) unsent.push(...keys);
  }
  expect(unsent).toEqual([]);
}

describe("the prebuilt functions", () => {
  it("R6: don't start without OUTBOX_DESTINATIONS: they would send wherever a record says", async () => {
    const call = `await import(${JSON.stringify(fileIn())});`;
    const started = run(process.execPath, ["--input-type=module", "--eval", call], folder, {
      IDEMPOTENCY_TABLE: "records",
    });

    await expect(started).rejects.toThrow("OUTBOX_DESTINATIONS is not set");
  });

  it("send committed messages from the stream, mark them, and count them", async () => {
    const table = await commit("from-the-stream", 0);
    const changes = await table.nextChanges();

    const lines = await invoke("relay", table, { Records: changes });

    await expectSent(table, "from-the-stream");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ service: "shop", operation: "create-order", event: "sent", by: "relay" }),
      { answer: { batchItemFailures: [] } },
    ]);
  });

  it("send to topics and event buses, and keep what a topic rejects", async () => {
    const topic = "arn:aws:sns:eu-central-1:000000000000:orders";
    const event = { bus: "shop", source: "shop", detailType: "paid", body: { id: 7 } };
    const table = await commit("everywhere", 0, [
      { topic, key: "1", body: "accepted" },
      { topic, key: "2", body: "refused" },
      { ...event, key: "3" },
    ]);
    const published: object[] = [];
    const sns = await canned((response, { body }) => {
      const { operation, input } = readQueryRequest(body);
      const { PublishBatchRequestEntries: entries } = input as {
        PublishBatchRequestEntries: readonly { Id: string; Message: string }[];
      };
      published.push(...entries.map(({ Message }) => ({ operation, Message })));
      const isAccepted = ({ Message }: { Message: string }) => Message === "accepted";
      const output = {
        Successful: entries.filter(isAccepted).map(({ Id }) => ({ Id, MessageId: "m" })),
        Failed: entries
          .filter((entry) => !isAccepted(entry))
          .map(({ Id }) => ({ Id, Code: "InvalidParameter", SenderFault: true })),
      };
      response.end(queryAnswer(operation, output, "r").body);
    });
    const eventBridge = await canned((response) => response.end('{"Entries":[{"EventId":"e"}]}'));

    const lines = await invoke(
      "relay",
      table,
      { Records: await table.nextChanges() },
      {
        AWS_ENDPOINT_URL_SNS: sns.url,
        AWS_ENDPOINT_URL_EVENTBRIDGE: eventBridge.url,
      },
    );

    expect(published).toEqual(
      ["accepted", "refused"].map((Message) => ({ operation: "PublishBatch", Message })),
    );
    expect(eventBridge.asked.map(({ headers }) => headers["x-amz-target"])).toEqual([
      "AWSEvents.DescribeEventBus",
      "AWSEvents.PutEvents",
    ]);
    expect(JSON.parse(lines.at(-1)!)).toEqual({ answer: { batchItemFailures: [] } });
    const left = [];
    for (let shard = 0; shard < 8; shard++) {
      for await (const keys of table.outbox.findUnsent(shard, Date.now() + 86_400_000)) left.push(...keys);
    }
    expect(left).toHaveLength(1);
  });

  it("send what the stream lost", async () => {
    const table = await commit("lost", 120_000);

    const lines = await invoke("sweeper", table, {});

    await expectSent(table, "lost");
    expect(JSON.parse(lines.at(-1)!)).toEqual({ answer: { sent: 1, failed: 0, waiting: 0 } });
  });
});

// Builds the package as npm publishes it.
if (isFull) {
  describe("the published constructs", () => {
    const inCommonJs = (path: string) => `require(${JSON.stringify(path)})`;
    const inModule = (path: string) => `(await import(${JSON.stringify(path)})).default`;
    const distFolder = () => join(folder, "package/dist");

    beforeAll(async () => {
      await run(process.execPath, [join(root, "tools/build.mjs"), join(folder, "package")], folder);
      await symlink(join(root, "node_modules"), join(folder, "node_modules"), "junction");
    });

    /** The files of the assets of an app with an OutboxRelay. */
    async function assetsOf(
      type: string,
      load: (path: string) => string,
      constructs = join(distFolder(), "cjs/cdk/index.js"),
      more: readonly string[] = [],
    ): Promise<string[][]> {
      const app = `
      const { App, Stack } = ${load("aws-cdk-lib")};
      const { IdempotencyTable, OutboxRelay, DedupQueue } = ${load(constructs)};
      const { readdirSync } = ${load("node:fs")};
      const stack = new Stack(new App({ builtinCloudFormationValidation: false, analyticsReporting: false }), "S");
      const table = new IdempotencyTable(stack, "Table", { outbox: true });
      new OutboxRelay(stack, "Outbox", { table, destinations: [new DedupQueue(stack, "Queue").queue] });
      const { directory } = stack.node.root.synth();
      const assets = readdirSync(directory).filter((name) => name.startsWith("asset."));
      console.log(JSON.stringify(assets.map((name) => readdirSync(directory + "/" + name))));`;
      const { stdout } = await run(
        process.execPath,
        [...more, `--input-type=${type}`, "--eval", app],
        folder,
      );
      return JSON.parse(stdout.trim().split("\n").at(-1)!);
    }

    it("find the prebuilt functions from CommonJS", async () => {
      expect(await assetsOf("commonjs", inCommonJs)).toEqual([["index.mjs"]]);
    });

    it("find the prebuilt functions from an ES module", async () => {
      expect(await assetsOf("module", inModule)).toEqual([["index.mjs"]]);
    });

    it("find them from their sources, which are ES modules", async () => {
      const imported = (path: string) => `(await import(${JSON.stringify(path)}))`;
      const sources = join(root, "lib/cdk/index.ts");

      expect(await assetsOf("module", imported, sources, ["--import", "tsx"])).toEqual([["index.mjs"]]);
    });

    it("report where they looked, and what to do, when the functions are gone", async () => {
      await rm(join(distFolder(), "functions"), { recursive: true });

      await expect(assetsOf("commonjs", inCommonJs)).rejects.toThrow(
        /the prebuilt functions aren't in any of .*functions\/outbox.*: reinstall onceonly, or run "npm run build"/,
      );
    });
  });
}
