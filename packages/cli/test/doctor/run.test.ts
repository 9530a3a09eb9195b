// The doctor looks at what `onceonly start` runs: its tables and queues as they are now, its functions as the run says.
import { DynamoDB } from "@aws-sdk/client-dynamodb";
import { SQS } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { sampleAssembly } from "../../../../test/kit/sample-assembly.ts";
import { type RunningStack, startStack } from "../../../local/lib/index.ts";
import { DESCRIBED_RUN_PATH } from "../../../local/lib/stack/described-run.ts";
import { runAlone } from "../world.ts";

const CREDENTIALS = { accessKeyId: "local", secretAccessKey: "local" };
const SECRET = "canary-4711-token";
const PARAMETERS = { PaymentGatewayToken: SECRET };

let stack: RunningStack;
let dynamodb: DynamoDB;
let sqs: SQS;
beforeAll(async () => {
  const [engine] = inject("dynamodbEngines");
  stack = await startStack({
    folder: await sampleAssembly(),
    dynamodbEndpoint: engine!.endpoint,
    parameters: PARAMETERS,
  });
  const common = { region: "us-east-1", credentials: CREDENTIALS };
  dynamodb = new DynamoDB({ endpoint: stack.endpoints.dynamodb, ...common });
  sqs = new SQS({ endpoint: stack.endpoints.sqs, ...common });
}, 120_000);
afterAll(async () => {
  dynamodb.destroy();
  sqs.destroy();
  await stack.stop();
});

async function diagnosed() {
  const { status, text } = await runAlone("doctor", ["--endpoint", stack.endpoints.aws, "--json"]);
  const lines = text.split("\n").map((line) => JSON.parse(line));
  return {
    status,
    checks: lines.filter(({ check }) => check !== undefined).map(({ check }) => check),
    unseen: lines.filter((each) => each.unseen !== undefined),
  };
}

describe("onceonly doctor --endpoint", () => {
  it("finds nothing in the sample as it runs here, and reports what a local stack can't show", async () => {
    const { status, text } = await runAlone("doctor", ["--endpoint", stack.endpoints.aws]);

    expect(text).toMatch(/^not checked: alarms, a local stack has none \(10 checks\)$/m);
    expect(text).toMatch(/^not checked: recovery and protection of Idempotency/m);
    expect(text).toMatch(
      /^not checked: policies of roles, permissions aren't checked locally \(rights-wide\)$/m,
    );
    expect(text).toMatch(
      /^no faults found in \d+ of \d+ checks; read 1 table, 2 queues, \d+ functions, 2 event sources, 0 alarms/m,
    );
    expect(status, text).toBe(0);
  });

  it("looks at the table, the queues and the event sources as they are now", async () => {
    const TableName = stack.tables.Idempotency!.name;
    const set = (Enabled: boolean) => ({
      TableName,
      TimeToLiveSpecification: { Enabled, AttributeName: "expiresAt" },
    });
    const QueueUrl = stack.queues.PaymentsQueue!.url;
    const relay = Object.entries(stack.eventSources).find(([path]) => path.startsWith("Outbox"))![1];

    await dynamodb.updateTimeToLive(set(false));
    const withoutTtl = await diagnosed();
    await dynamodb.updateTimeToLive(set(true));
    await sqs.setQueueAttributes({ QueueUrl, Attributes: { VisibilityTimeout: "10" } });
    const withoutVisibility = await diagnosed();
    await sqs.setQueueAttributes({ QueueUrl, Attributes: { VisibilityTimeout: "60" } });
    relay.disable();
    const withoutRelay = await diagnosed();
    relay.enable();

    expect(withoutTtl).toMatchObject({ status: 1, checks: ["no-expiry"] });
    expect(withoutVisibility).toMatchObject({ status: 1, checks: ["queue-visibility"] });
    expect(withoutRelay).toMatchObject({ status: 1, checks: ["outbox-relay"] });
    expect(await diagnosed()).toMatchObject({ status: 0, checks: [] });
  });

  it("reveals the functions' variables to no caller, and nothing to a web page", async () => {
    const url = new URL(DESCRIBED_RUN_PATH, stack.endpoints.aws);

    const text = await (await fetch(url)).text();

    expect(text).toContain("IDEMPOTENCY_TABLE");
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain("GATEWAY_TOKEN");
  });

  it("names the address that it expects if it gets another", async () => {
    await expect(runAlone("doctor", ["--endpoint", stack.endpoints.dynamodb])).rejects.toThrow(
      "pass the address that `onceonly start` prints after AWS",
    );
    await expect(runAlone("doctor", ["--endpoint", "localhost"])).rejects.toThrow("--endpoint must be a URL");
  });
});
