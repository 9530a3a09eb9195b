// The doctor finds each seeded fault of the sample by its own check, and nothing in the sample.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ALL_CHECKS, TEMPLATE_CHECKS } from "../../lib/doctor.ts";
import { runAlone } from "../world.ts";
import { sampleTemplate } from "./sample-template-given.ts";

/** A template that a seed breaks. */
type Broken = {
  Resources: Record<string, { Type: string; Properties: Record<string, never> }>;
};

let folder: string;
let sample: Broken;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "onceonly-doctor-"));
  sample = sampleTemplate() as Broken;
});
afterAll(() => rm(folder, { recursive: true }));

async function diagnose(template: unknown, ...more: readonly string[]) {
  const file = join(folder, "Sample.template.json");
  await writeFile(file, JSON.stringify(template));
  return runAlone("doctor", ["--template", file, ...more]);
}

/** The resource whose logical id begins so, in this template. */
function resource(template: Broken, prefix: string): { Type: string; Properties: never } {
  const found = Object.entries(template.Resources).filter(([id]) => id.startsWith(prefix));
  expect(found, `resources that begin with ${prefix}`).toHaveLength(1);
  return found[0]![1] as { Type: string; Properties: never };
}

const change = (prefix: string, properties: object) => (template: Broken) => {
  Object.assign(resource(template, prefix).Properties, properties);
};

const without = (pattern: RegExp) => (template: Broken) => {
  for (const id of Object.keys(template.Resources)) if (pattern.test(id)) delete template.Resources[id];
};

const variable = (prefix: string, name: string, value: string | undefined) => (template: Broken) => {
  const { Environment } = resource(template, prefix).Properties as {
    Environment: { Variables: Record<string, unknown> };
  };
  Environment.Variables[name] = value;
};

const [TABLE, QUEUE, DEAD] = ["IdempotencyC", "PaymentsQueue5", "PaymentsQueueDeadLetters5"];
const [RELAY, CONSUMER] = ["OutboxRelayStream", "ChargePaymentConsumer"];
const replica = (more: object) => ({
  Replicas: [
    {
      Region: "eu-central-1",
      DeletionProtectionEnabled: true,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      ...more,
    },
  ],
});
const wide = {
  Type: "AWS::IAM::Policy",
  Properties: {
    PolicyDocument: { Statement: [{ Effect: "Allow", Action: "dynamodb:*", Resource: "*" }] },
  },
};

/** The age of a message in a FIFO dead-letter queue begins again, so only a standard one can be too short. */
const standard = (properties: object) => (template: Broken) => {
  change(QUEUE, { FifoQueue: undefined })(template);
  change(DEAD, { FifoQueue: undefined, ...properties })(template);
};

/** What a seed makes the doctor report beside its own check. */
const TOGETHER: Readonly<Record<string, readonly string[]>> = { "queue-dead-letters": ["no-dead-letters"] };

const SEEDS: readonly (readonly [check: string, seed: (template: Broken) => void])[] = [
  ["no-expiry", change(TABLE, { TimeToLiveSpecification: { Enabled: false } })],
  ["no-expiry", change(TABLE, { TimeToLiveSpecification: undefined })],
  ["ttl-attribute", change(TABLE, { TimeToLiveSpecification: { Enabled: true, AttributeName: "ttl" } })],
  ["table-recovery", change(TABLE, replica({ PointInTimeRecoverySpecification: undefined }))],
  ["table-protection", change(TABLE, replica({ DeletionProtectionEnabled: false }))],
  ["replicated-table", change(TABLE, { Replicas: [...replica({}).Replicas, ...replica({}).Replicas] })],
  ["outbox-stream", change(TABLE, { StreamSpecification: undefined })],
  ["outbox-stream", change(TABLE, { StreamSpecification: { StreamViewType: "KEYS_ONLY" } })],
  ["table-index", change(TABLE, { GlobalSecondaryIndexes: [{ IndexName: "unsettled" }] })],
  ["relay-off", without(/^OutboxRelayStream/)],
  ["relay-off", change(RELAY, { Enabled: false })],
  ["relay-off", without(/^OutboxRelay/)],
  ["relay-start", change(RELAY, { StartingPosition: "LATEST" })],
  ["no-batch-failures", change(RELAY, { FunctionResponseTypes: [] })],
  ["relay-filter", change(RELAY, { FilterCriteria: { Filters: [{ Pattern: '{"eventName":["INSERT"]}' }] } })],
  ["relay-retries", change(RELAY, { MaximumRetryAttempts: 3 })],
  ["no-sweep", change("OutboxSweep6", { State: "DISABLED" })],
  ["outbox-sweeper", change("OutboxSweep6", { ScheduleExpression: "rate(1 hour)" })],
  ["no-sweep", without(/^OutboxSweep6/)],
  ["no-sweep", without(/^OutboxSweeper/)],
  ["outbox-shards", variable("OutboxSweeperD", "OUTBOX_SHARDS", "4")],
  ["outbox-variable", variable("ChargePayment4", "IDEMPOTENCY_OUTBOX", undefined)],
  ["queue-deduplication", change(QUEUE, { ContentBasedDeduplication: true })],
  ["queue-visibility", change(QUEUE, { VisibilityTimeout: 59 })],
  ["queue-visibility", change(CONSUMER, { MaximumBatchingWindowInSeconds: 5 })],
  ["queue-visibility", change("ChargePayment4", { Timeout: 20 })],
  ["no-batch-failures", change(CONSUMER, { FunctionResponseTypes: undefined })],
  ["queue-dead-letters", change(QUEUE, { RedrivePolicy: undefined })],
  ["dead-letter-kind", change(DEAD, { FifoQueue: undefined })],
  ["short-dead-letters", standard({ MessageRetentionPeriod: 345_600 })],
  ["short-dead-letters", standard({ MessageRetentionPeriod: undefined })],
  ["retention", variable("ChargePayment4", "IDEMPOTENCY_RETENTION_SECONDS", "86400")],
  ["mapping-enabled", change(CONSUMER, { Enabled: false })],
  ["runtime", change("CreateOrder1", { Runtime: "nodejs18.x" })],
  ["no-concurrency", change("OutboxRelay5", { ReservedConcurrentExecutions: 0 })],
  ["gateway-timeout", change("CreateOrder1", { Timeout: 31 })],
  ["rights-wide", ({ Resources }) => Object.assign(Resources, { Wide: wide })],
  ["alarm-ran-unprotected", without(/^MonitoringRanUnprotected/)],
  ["alarm-completion-lost", without(/^MonitoringCompletionLost/)],
  ["alarm-claim-lost", without(/^MonitoringClaimLost/)],
  ["alarm-claim-lost", change("MonitoringClaimLost", { ActionsEnabled: false })],
  ["alarm-store-failed", without(/^MonitoringStoreFailures/)],
  ["alarm-iterator-age", without(/^MonitoringRelayIteratorAge/)],
  ["alarm-outbox-age", without(/^MonitoringOutboxAge/)],
  ["alarm-outbox-parked", without(/^MonitoringOutboxParked/)],
  ["alarm-sender-errors", without(/^MonitoringFunctionErrors.*Sweeper/)],
  ["alarm-dead-letters", without(/^MonitoringDeadLetters/)],
];

describe("onceonly doctor", () => {
  it("finds nothing in the sample", async () => {
    expect(await diagnose(sample)).toEqual({
      status: 0,
      text: "no faults found",
    });
  });

  it.each(SEEDS)("finds what a seed breaks by %s, case %#, and says what to do", async (check, seed) => {
    const template = structuredClone(sample);
    seed(template);

    const { status, text } = await diagnose(template, "--json", "--strict");

    const lines = text.split("\n").map((line) => JSON.parse(line));
    const found = lines.filter(({ kind }) => kind !== "note");
    expect(status).toBe(1);
    expect(found.map((each) => each.check).filter((each) => !TOGETHER[check]?.includes(each))).toEqual([
      check,
    ]);
    const own = found.find((each) => each.check === check);
    // A rule's text ends with what to do.
    expect(own.remedy ?? own.what).toMatch(/\w/);
  });

  it("H92: prints what it can't check, and passes as the synthesis does", async () => {
    const template = structuredClone(sample);
    change(QUEUE, { VisibilityTimeout: { Ref: "Seconds" } })(template);

    const { status, text } = await diagnose(template);

    expect(status).toBe(0);
    expect(text).toMatch(/^note: visibility-unknown: can't check whether .*/m);
  });

  it("B5: an open line of the checklist isn't a fault, unless --strict is given", async () => {
    const template = structuredClone(sample);
    without(/^MonitoringClaimLost/)(template);

    const { status, text } = await diagnose(template);

    expect(status).toBe(0);
    expect(text).toMatch(
      /^checklist: alarm-claim-lost: there's no alarm on ClaimLost\n {2}.*\nno faults found, 1 open checklist item$/,
    );
    expect((await diagnose(template, "--strict")).status).toBe(1);
  });

  it("F8: lets a function behind an HTTP API run for 30 s, and one behind a REST API for 29", async () => {
    const template = structuredClone(sample);
    change("CreateOrder1", { Timeout: 30 })(template);
    expect((await diagnose(template)).status).toBe(0);

    const uri = {
      "Fn::GetAtt": [Object.keys(template.Resources).find((id) => /^CreateOrder[\dA-F]{8}$/.test(id)), "Arn"],
    };
    template.Resources.Rest = {
      Type: "AWS::ApiGateway::Method",
      Properties: { Integration: { Uri: uri } } as never,
    };
    expect((await diagnose(template)).text).toContain("> 29 s, how long its API waits");
  });

  it("B5: finds nothing wrong in one function of your own that is both relay and sweeper", async () => {
    const template = structuredClone(sample);
    without(/^OutboxRelay5/)(template);
    const [sweeper] = Object.keys(template.Resources).filter((id) => id.startsWith("OutboxSweeperD"));
    change(RELAY, { FunctionName: { Ref: sweeper } })(template);
    change("OutboxSweeperD", { Handler: "index.handler" })(template);

    expect(await diagnose(template)).toEqual({ status: 0, text: "no faults found" });
  });

  it("has a seed for each of its checks", () => {
    const seeded = SEEDS.map(([check]) => check);

    // The rules of the synthesis are tried in agreement.test.ts.
    expect(TEMPLATE_CHECKS.map(({ id }) => id).filter((id) => !seeded.includes(id))).toEqual([]);
  });

  it("prints the resource, what is wrong, and the remedy below it", async () => {
    const template = structuredClone(sample);
    variable("OutboxSweeperD", "OUTBOX_SHARDS", "4")(template);

    const { text } = await diagnose(template);

    expect(text).toMatch(/^outbox-shards: OutboxSweeperD\w+ reads 4 of 8 shards\n {2}raise .*\n1 fault$/);
  });

  it("reads the checklist: each line names checks that exist or says why there is none, and each check has its line", async () => {
    const page = await readFile(new URL("../../../../docs/operate/go-live.md", import.meta.url), "utf8");
    const lines = page.split(/^- \[ \] /m).slice(1);
    const named = lines.map((line) => [...line.matchAll(/`doctor\s+([\w-]+)`/g)].map(([, id]) => id));

    for (const [place, line] of lines.entries()) {
      const isCovered = named[place]!.length > 0 || /Checked\s+(at synthesis|by hand):\s/.test(line);
      expect(isCovered, line).toBe(true);
    }
    expect([...new Set(named.flat())].toSorted()).toEqual(ALL_CHECKS.map(({ id }) => id).toSorted());
  });

  it.each([
    [[], "pass --template, --stack, --table or --endpoint"],
    [["--template", "none.json"], "can't read the template none.json: no such file"],
    [
      ["--template", "none.json", "--region", "eu-central-1"],
      "a template doesn't accept --region (accepted by: a deployed stack)",
    ],
    [["cdk.out", "--template", "none.json"], "doctor accepts no arguments"],
  ])("refuses %j", async (args, message) => {
    await expect(runAlone("doctor", args)).rejects.toThrow(message);
  });

  it("refuses a template in which nothing uses onceonly", async () => {
    await expect(diagnose({ Resources: {} })).rejects.toThrow(
      "has the variable IDEMPOTENCY_TABLE. Is this the right template?",
    );
    await expect(diagnose([])).rejects.toThrow("can't read the template");
  });
});
