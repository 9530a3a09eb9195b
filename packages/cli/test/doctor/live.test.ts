// The doctor looks at what lives: the template is right, and somebody has changed a resource by hand.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../../../../test/kit/project.ts";
import { look } from "../../lib/doctor/live/model.ts";
import { ALL_CHECKS } from "../../lib/doctor.ts";
import { runAlone } from "../world.ts";
import { ACCOUNT, type Aws, idOf, SECRET, startAws } from "./deployed-given.ts";
import {
  attribute,
  CHARGE,
  CONSUMER,
  CREATE,
  configure,
  QUEUE,
  RELAY,
  SEEDS,
  SENDER,
  SWEEPER,
  TABLE,
  variable,
  WIDE_SEEDS,
} from "./seeds-given.ts";

let aws: Aws;
beforeAll(async () => {
  aws = await startAws();
});
afterAll(() => aws.stop());

const STACK = ["--stack", "sample"];

/** Runs the doctor in this process. What it prints never has a secret of a function. */
async function diagnose(...args: readonly string[]) {
  const place = ["--endpoint", aws.endpoint, ...(args.includes("--region") ? [] : ["--region", "us-east-1"])];
  const { status, text } = await runAlone("doctor", [...args, ...place]);
  expect(text).not.toContain(SECRET);
  return { status, text };
}

interface Line {
  readonly check?: string;
  readonly resource?: string;
  readonly remedy?: string;
  readonly unseen?: string;
  readonly isNowhere?: boolean;
  readonly checks?: readonly string[];
}

async function diagnosed(...args: readonly string[]) {
  const { status, text } = await diagnose(...args, "--json");
  const lines: Line[] = text.split("\n").map((line) => JSON.parse(line));
  const faults = lines.filter(({ check }) => check !== undefined);
  const unseen = lines.filter((each) => each.unseen !== undefined && !each.isNowhere);
  return { status, faults, unseen, end: lines.at(-1) as unknown };
}

/** A queue that the server of AWS is asked about. */
const urlOnAws = (url: string) =>
  `https://sqs.us-east-1.amazonaws.com/${ACCOUNT}/${url.slice(url.lastIndexOf("/") + 1)}`;

/** The doctor reads these of templates only, or AWS refuses to make such a thing. */
const SEEDED_ELSEWHERE = ["rights-wide", "dead-letter-kind"];

describe("onceonly doctor for deployed resources", () => {
  it("finds nothing in the sample as it is deployed, and reports what it does not look at", async () => {
    const { edge } = await aws.deploy();

    const { status, text } = await diagnose(...STACK);

    expect(status, text).toBe(0);
    expect(text).toMatch(
      /^not checked: policies of roles, they are only checked in templates \(rights-wide\)\n {2}run .*\nno faults found in \d+ of \d+ checks; read 1 table, 2 queues, 9 functions, 2 event sources, \d+ alarms in \d+ requests$/,
    );
    expect(text).toContain(`faults found in ${ALL_CHECKS.length - 1} of ${ALL_CHECKS.length} checks`);
    // Two more are asked of the queues' engine.
    expect(text).toContain(`in ${edge.asked.length + 2} requests`);
  });

  it.each(SEEDS)("finds %s: %s", async (check, _, seed) => {
    const sample = await aws.deploy();
    await seed(sample);

    const { status, faults, unseen } = await diagnosed(...STACK);

    expect(unseen).toEqual([]);
    expect(faults.map((fault) => fault.check)).toEqual([check]);
    expect(faults[0]!.remedy).toMatch(/\w/);
    expect(status).toBe(1);
  });

  it.each(WIDE_SEEDS)("finds %j: %s", async (checks, _, seed) => {
    const sample = await aws.deploy();
    await seed(sample);

    const { status, faults, unseen } = await diagnosed(...STACK);

    expect(unseen).toEqual([]);
    expect(faults.map((fault) => fault.check).toSorted()).toEqual(checks.toSorted());
    expect(status).toBe(1);
  });

  it("has a seed for each check that can fail on deployed resources", () => {
    const seeded = [...SEEDS.map(([check]) => check), ...WIDE_SEEDS.flatMap(([checks]) => checks)];

    expect([...new Set([...seeded, ...SEEDED_ELSEWHERE])].toSorted()).toEqual(
      ALL_CHECKS.map(({ id }) => id).toSorted(),
    );
  });

  it("names a resource as the stack does and as AWS does, what is wrong, and the remedy below it", async () => {
    const sample = await aws.deploy();
    await attribute(QUEUE, { VisibilityTimeout: "30" })(sample);

    const { text } = await diagnose(...STACK);

    const name = sample.name(QUEUE).split("/").at(-1);
    expect(text).toContain(
      `queue-visibility: ${idOf(QUEUE)} (${name}) has a visibility timeout of 30 s, below 60 s\n  make the`,
    );
    expect(text).toMatch(/\n1 fault; read /);
  });
});

describe("a look", () => {
  it.each([
    [Object.assign(new Error(SECRET), { name: "ThrottlingException" }), "ThrottlingException"],
    [Object.assign(new Error(SECRET), { code: "ECONNRESET" }), "ECONNRESET"],
    [new DOMException(SECRET, "TimeoutError"), "TimeoutError"],
    [Object.assign(new Error(SECRET), { name: "CredentialsProviderError" }), "CredentialsProviderError"],
  ])("that fails is reported by the name of its error only: %#", async (error, why) => {
    const looked = await look("lambda:GetPolicy", () => Promise.reject(error));

    expect(looked).toMatchObject({
      is: "unseen",
      why,
      remedy: expect.stringMatching(/run it again|credentials/),
    });
    expect(JSON.stringify(looked)).not.toContain(SECRET);
  });
});

describe("onceonly doctor without a right", () => {
  const DENIED = [
    ["DescribeTable", "dynamodb:DescribeTable", "no-expiry"],
    ["DescribeTimeToLive", "dynamodb:DescribeTimeToLive", "no-expiry"],
    ["DescribeContinuousBackups", "dynamodb:DescribeContinuousBackups", "table-recovery"],
    ["GetFunctionConfiguration", "lambda:GetFunctionConfiguration", "runtime"],
    ["GetFunctionConcurrency", "lambda:GetFunctionConcurrency", "no-concurrency"],
    ["GetPolicy", "lambda:GetPolicy", "gateway-timeout"],
    ["ListEventSourceMappings", "lambda:ListEventSourceMappings", "outbox-relay"],
    ["ListRuleNamesByTarget", "events:ListRuleNamesByTarget", "outbox-sweeper"],
    ["DescribeRule", "events:DescribeRule", "outbox-sweeper"],
    ["DescribeAlarms", "cloudwatch:DescribeAlarms", "alarm-claim-lost"],
  ] as const;

  it.each(DENIED)(
    "to %s reports what was not looked at, and invents no fault",
    async (operation, right, check) => {
      const { edge } = await aws.deploy();
      edge.refused[operation] = "AccessDeniedException";

      const { status, faults, unseen } = await diagnosed(...STACK);

      expect(faults).toEqual([]);
      expect(unseen.flatMap(({ checks = [] }) => checks)).toContain(check);
      expect([...new Set(unseen.map(({ remedy }) => remedy))]).toEqual([`allow ${right}`]);
      expect(status).toBe(1);
    },
  );

  it("to a queue reports it, with the faults of what it saw", async () => {
    const sample = await aws.deploy();
    await variable(SWEEPER, "OUTBOX_SHARDS", "4")(sample);
    for (const resource of sample.edge.stacks.sample!)
      if (resource.type === "AWS::SQS::Queue") resource.physical = urlOnAws(resource.physical);
    sample.edge.refused.sqs = "AccessDenied";

    const { status, text } = await diagnose(...STACK);

    expect(text).toMatch(/^outbox-shards: OutboxSweeper/m);
    expect(text).toMatch(/^not checked: queue PaymentsQueue\w+ \(.*\), AccessDenied \(9 checks\)$/m);
    expect(text).toMatch(/^ {2}allow sqs:GetQueueAttributes$/m);
    expect(text).toMatch(/^1 fault, and 2 could not be checked;/m);
    expect(status).toBe(1);
  });

  it("to decrypt a function's variables counts the function as unseen", async () => {
    const sample = await aws.deploy();
    sample.function(CHARGE).Environment = { Error: { ErrorCode: "AccessDeniedException", Message: SECRET } };

    const { status, faults, unseen } = await diagnosed(...STACK);

    expect(faults).toEqual([]);
    expect(unseen.map(({ remedy }) => remedy)).toEqual(["allow kms:Decrypt on the key of its variables"]);
    expect(status).toBe(1);
  });

  it("to list the stack names the right that it needs", async () => {
    const { edge } = await aws.deploy();
    edge.refused.ListStackResources = "AccessDenied";

    await expect(diagnose(...STACK)).rejects.toThrow(
      "can't list the stack sample in us-east-1: AccessDenied; allow cloudformation:ListStackResources",
    );
  });
});

describe("onceonly doctor --stack", () => {
  it("refuses a stack that does not exist, and names the Region", async () => {
    await aws.deploy();

    await expect(diagnose("--stack", "smaple")).rejects.toThrow(
      "no stack smaple in us-east-1: check its name, --region and --profile",
    );
  });

  it("looks in the Region of --region, and finds no stack in another", async () => {
    const { edge } = await aws.deploy("eu-west-1");

    const there = await diagnosed(...STACK, "--region", "eu-west-1");

    expect(there).toMatchObject({ status: 0, faults: [], unseen: [] });
    expect(new Set(edge.asked.map(({ region }) => region))).toEqual(new Set(["eu-west-1"]));
    await expect(diagnose(...STACK)).rejects.toThrow("no stack sample in us-east-1");
  });

  it("looks for a table in the Region of its ARN", async () => {
    const sample = await aws.deploy();
    const arn = `arn:aws:dynamodb:eu-central-1:${ACCOUNT}:table/${sample.name(TABLE)}`;
    for (const fn of Object.values(sample.edge.functions))
      if (fn.Environment?.Variables?.IDEMPOTENCY_TABLE) fn.Environment.Variables.IDEMPOTENCY_TABLE = arn;

    const { faults } = await diagnosed(...STACK);

    expect(sample.edge.asked).toContainEqual({ region: "eu-central-1", operation: "DescribeTable" });
    expect(faults.map(({ check }) => check)).toContain("live-gone");
  });

  it("reads all pages of a list", async () => {
    const sample = await aws.deploy();
    sample.edge.pageSize = 1;
    sample.mapping(RELAY).State = "Disabled";

    const { faults, unseen } = await diagnosed(...STACK);

    expect(faults.map(({ check }) => check)).toEqual(["outbox-relay"]);
    expect(unseen).toEqual([]);
    expect(sample.edge.asked.filter(({ operation }) => operation === "ListStackResources")).toHaveLength(
      sample.edge.stacks.sample!.length,
    );
  });

  it("looks into nested stacks, and reports any that it may not read", async () => {
    const { edge } = await aws.deploy();
    const arn = `arn:aws:cloudformation:us-east-1:${ACCOUNT}:stack/sample-Monitoring/1`;
    const isNested = ({ id }: { id: string }) => id.startsWith("Monitoring");
    edge.stacks[arn] = edge.stacks.sample!.filter(isNested);
    edge.stacks.sample = [
      ...edge.stacks.sample!.filter((each) => !isNested(each)),
      { id: "Watch", type: "AWS::CloudFormation::Stack", physical: arn },
    ];

    const whole = await diagnosed(...STACK);
    delete edge.stacks[arn];
    const part = await diagnosed(...STACK);

    expect(whole).toMatchObject({ status: 0, faults: [], unseen: [] });
    expect(part.faults).toEqual([]);
    expect(part.unseen.map(({ unseen }) => unseen)).toEqual([`part of the stack Watch/${arn}`]);
    expect(part.status).toBe(1);
  });

  it("stops at the bound on requests, and names what it did not look at", async () => {
    const { edge } = await aws.deploy();

    const { status, faults, unseen, end } = await diagnosed(...STACK, "--max-requests", "12");

    expect(edge.asked.length).toBeLessThanOrEqual(12);
    expect(end).toMatchObject({ requests: 12 });
    expect(faults).toEqual([]);
    expect(new Set(unseen.map(({ remedy }) => remedy))).toEqual(new Set(["raise --max-requests"]));
    expect(status).toBe(1);
  });

  it("refuses a stack in which nothing uses onceonly", async () => {
    const { edge } = await aws.deploy();
    edge.stacks.other = edge.stacks
      .sample!.filter(({ type }) => type !== "AWS::Lambda::Function")
      .slice(0, 1);

    await expect(diagnose("--stack", "other")).rejects.toThrow(
      "no function in other has IDEMPOTENCY_TABLE: is this the right stack?",
    );
  });

  it("treats two stacks as one if one has the handlers and the other the outbox", async () => {
    const { edge } = await aws.deploy();
    const isOutbox = ({ id }: { id: string }) => /^(Outbox|Idempotency)/.test(id);
    edge.stacks.outbox = edge.stacks.sample!.filter(isOutbox);
    edge.stacks.sample = edge.stacks.sample!.filter((each) => !isOutbox(each));

    const both = await diagnosed(...STACK, "--stack", "outbox");
    const alone = await diagnosed("--stack", "outbox");

    expect(both).toMatchObject({ status: 0, faults: [], unseen: [] });
    expect(alone.unseen.map(({ unseen }) => unseen)).toEqual(["functions that run operations"]);
    expect(alone.status).toBe(1);
  });

  it("reads the alias that is called, and the resources tied to it", async () => {
    const sample = await aws.deploy();
    const { edge } = sample;
    const live = (fn: string) => `arn:aws:lambda:us-east-1:${ACCOUNT}:function:${sample.name(fn)}:live`;
    for (const fn of [CHARGE, SWEEPER]) {
      edge.functions[`${sample.name(fn)}:live`] = structuredClone(sample.function(fn));
      edge.stacks.sample!.push({ id: `${fn}Live`, type: "AWS::Lambda::Alias", physical: live(fn) });
    }
    sample.mapping(CONSUMER).FunctionArn = live(CHARGE);
    edge.rules[sample.name("OutboxSweep6")]!.targets = [live(SWEEPER)];
    // What nobody calls may be as it is.
    sample.function(CHARGE).Timeout = 500;

    expect(await diagnosed(...STACK)).toMatchObject({ status: 0, faults: [], unseen: [] });
    edge.functions[`${sample.name(CHARGE)}:live`]!.Timeout = 20;
    const { faults } = await diagnosed(...STACK);
    expect(faults.map(({ check }) => check)).toEqual(["queue-visibility"]);
  });

  it("accepts a schedule as the rule that runs the sweeper", async () => {
    const sample = await aws.deploy();
    const { FunctionArn: Arn } = sample.function(SWEEPER);
    sample.edge.rules = {};
    const schedule = { Name: "sweep", GroupName: "default", State: "ENABLED", Target: { Arn } };
    sample.edge.schedules = [{ ...schedule, ScheduleExpression: "rate(1 minute)" }];

    expect(await diagnosed(...STACK)).toMatchObject({ status: 0, faults: [], unseen: [] });
    sample.edge.schedules = [{ ...schedule, ScheduleExpression: "rate(1 day)" }];
    const { faults } = await diagnosed(...STACK);
    expect(faults.map(({ check }) => check)).toEqual(["outbox-sweeper"]);
  });
});

describe("onceonly doctor by names", () => {
  it("finds everything from a queue, without CloudFormation, and reports that no alarm was named", async () => {
    const sample = await aws.deploy();
    await attribute(QUEUE, { VisibilityTimeout: "30" })(sample);

    const { status, faults, unseen } = await diagnosed("--queue", sample.name(QUEUE));

    expect(faults.map(({ check }) => check)).toEqual(["queue-visibility"]);
    expect(unseen.map((each) => each.unseen).toSorted()).toEqual(["alarms", "the sweeper"]);
    expect(unseen.map(({ remedy }) => remedy)).toContain("pass --alarm <name>, or <prefix>*");
    expect(sample.edge.asked.map(({ operation }) => operation)).not.toContain("ListStackResources");
    expect(status).toBe(1);
  });

  it("finds nothing in the sample by its names", async () => {
    const { name } = await aws.deploy();
    const functions = [CREATE, CHARGE, SENDER, SWEEPER].flatMap((fn) => ["--function", name(fn)]);

    const answer = await diagnosed("--table", name(TABLE), ...functions, "--alarm", "Monitoring*");

    expect(answer).toMatchObject({ status: 0, faults: [], unseen: [] });
  });

  it("accepts a given table and function as such, whatever their variables", async () => {
    const sample = await aws.deploy();
    await variable(CREATE, "IDEMPOTENCY_TABLE", undefined)(sample);
    await configure(CREATE, { Runtime: "nodejs16.x" })(sample);
    sample.edge.backups[sample.name(TABLE)] = false;

    const { faults } = await diagnosed("--table", sample.name(TABLE), "--function", sample.name(CREATE));

    expect(faults.map(({ check }) => check)).toEqual(expect.arrayContaining(["table-recovery", "runtime"]));
  });

  it("reports that a table by itself reveals nothing about its users", async () => {
    const sample = await aws.deploy();
    sample.edge.mappings = [];
    sample.edge.backups[sample.name(TABLE)] = false;

    const { status, faults, unseen } = await diagnosed("--table", sample.name(TABLE));

    expect(faults.map(({ check }) => check)).toEqual(["table-recovery"]);
    expect(unseen.map(({ remedy }) => remedy)).toContain(
      "pass --function <name>, or the --stack that contains them",
    );
    expect(status).toBe(1);
  });

  it("reports a deleted resource as gone", async () => {
    const { name } = await aws.deploy();

    const { faults } = await diagnosed(
      "--table",
      "recrods",
      "--function",
      name(CREATE),
      "--alarm",
      "Monitoring*",
    );

    expect(faults).toContainEqual(expect.objectContaining({ check: "live-gone", resource: "recrods" }));
  });
});

describe("the binary", () => {
  const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    new Promise<{ status: number; text: string }>((resolve) => {
      const node = ["--import", "tsx", join(root, "packages/cli/lib/onceonly.ts"), "doctor", ...args];
      const options = { cwd: root, env: { ...process.env, ...env } };
      execFile(process.execPath, node, options, (error, stdout, stderr) =>
        resolve({ status: Number(error?.code ?? 0), text: `${stdout}${stderr}`.trim() }),
      );
    });

  it("reads Region, credentials and endpoints from the environment, and reports a queue's fault", async () => {
    const sample = await aws.deploy("eu-central-1");
    await variable(SWEEPER, "OUTBOX_SHARDS", "4")(sample);
    const env = {
      AWS_REGION: "eu-central-1",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
      AWS_ENDPOINT_URL: aws.endpoint,
      AWS_ENDPOINT_URL_DYNAMODB: "",
    };

    const { status, text } = await run(["--stack", "sample"], env);

    expect(text).toMatch(/^outbox-shards: OutboxSweeper\w+ \(.*\) reads 4 of 8 shards$/m);
    expect(text).toMatch(/^1 fault; read 1 table, 2 queues, .*requests$/m);
    expect(text).not.toContain(SECRET);
    expect(status).toBe(1);
  });

  it.each([
    [["--stack", ""], "--stack is empty: is a shell variable unset?"],
    [
      ["--stack", "sample", "--template", "x.json"],
      "a template doesn't accept --stack (accepted by: a deployed stack)",
    ],
    [["--alarm", "Monitoring*"], "--alarm needs --stack, --table or --function too"],
    [["--queue", "payments"], "not a queue URL: payments"],
    [["--stack", "sample", "--max-requests", "many"], "--max-requests must be a whole number of at least 1"],
  ])("refuses %j before any request", async (args, message) => {
    const { edge } = await aws.deploy();

    await expect(diagnose(...args)).rejects.toThrow(message);
    expect(edge.asked).toEqual([]);
  });

  it("reports that it could not look at an address on which nothing listens", async () => {
    const place = ["--endpoint", "http://127.0.0.1:1"];

    await expect(runAlone("doctor", [...STACK, ...place])).rejects.toThrow(
      "can't list the stack sample in us-east-1: ECONNREFUSED",
    );
    await expect(runAlone("doctor", place)).rejects.toThrow(
      "no run of `onceonly start` responds at http://127.0.0.1:1",
    );
  });
});
