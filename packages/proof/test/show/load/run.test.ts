// The load itself, in small: against the sample, against one that runs already, and against one that is wrong.
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { sampleAssembly } from "../../../../../test/kit/sample-assembly.ts";
import { isFull } from "../../../../../test/setup/tier.ts";
import { startStack } from "../../../../local/lib/index.ts";
import { sampleWithout } from "../../../show/demo/without/sample-without.ts";
import { DEFAULTS } from "../../../show/load/options.ts";
import { processesIn, startCommand } from "../world.ts";
import { judgeRun } from "./given.ts";

const SIZES = { ...DEFAULTS, orders: 20, duplicates: 2 };
const engines = inject("dynamodbEngines");

let sample: string;
beforeAll(async () => {
  sample = await sampleAssembly();
}, 120_000);

describe("runLoad", () => {
  it.concurrent("finds one order, payment and charge for each key of the sample, even if DynamoDB and SQS falter", {
    timeout: 120_000,
  }, async () => {
    const target = { kind: "own", app: sample, faults: true } as const;
    const { observed, thresholds, broken } = await judgeRun({ ...SIZES, target }, engines[0]!.endpoint);

    expect(thresholds.filter(({ name }) => broken.includes(name))).toEqual([]);
    expect(broken).toEqual([]);
    expect(thresholds.filter(({ found }) => found === undefined)).toEqual([]);
    expect(observed.answers.filter(({ asked }) => asked === "other-body")).toHaveLength(4);
    expect(observed.answers.some(({ replayed }) => replayed)).toBe(true);
    expect(observed.faults?.lostAnswers).toBeGreaterThan(0);
    expect(observed.faults?.throttles).toBeGreaterThan(0);
  });

  if (isFull) {
    it.concurrent("counts in the tables and queues of a sample that is already running, and only its own orders", {
      timeout: 360_000,
    }, async ({ onTestFinished }) => {
      const stack = await startStack({ folder: sample });
      onTestFinished(() => stack.stop());
      const { dynamodb, sqs } = stack.endpoints;
      const target = { kind: "running", url: stack.url!, dynamodb, sqs } as const;

      const first = await judgeRun({ ...SIZES, orders: 4, target });
      const second = await judgeRun({ ...SIZES, orders: 6, target });

      expect([first.broken, second.broken]).toEqual([[], []]);
      expect(second.observed.effects.orders).toHaveLength(6);
      const foundIn = (run: typeof second) =>
        new Map(run.thresholds.map(({ name, found }) => [name, found] as const));
      expect(foundIn(second).get("orders of acme")).toBe(3);
      expect(foundIn(second).get("charges of acme")).toBe(3);
      expect(foundIn(second).get("messages in the dead-letter queue")).toBe(0);
      expect(first.observed.faults).toBeUndefined();
    });
  }
});

if (isFull) {
  describe("npm run load", () => {
    it.concurrent("finds the second orders of an order function without idempotency and ends with status 1", {
      timeout: 120_000,
    }, async (test) => {
      const { folder, remove } = await sampleWithout(sample, ["CreateOrder"]);
      test.onTestFinished(remove);

      const args = ["--orders", "4", "--duplicates", "2", "--app", folder];
      const environment = { AWS_ENDPOINT_URL_DYNAMODB: engines[0]!.endpoint };
      const { status, printed } = await startCommand(test, "load", { args, environment }).ended();

      expect(printed).toMatch(/^✗ orders of acme +2 +\d{2}$/m);
      expect(printed).toMatch(
        /^broken .*: unexpected statuses, keys with different answers, orders of acme/m,
      );
      expect(printed).toMatch(/^broken .*, charges of acme, /m);
      expect(status).toBe(1);
    });

    it.concurrent("leaves neither processes nor folders after Ctrl-C", {
      timeout: 120_000,
    }, async (test) => {
      const folder = mkdtempSync(join(tmpdir(), "load-test-"));
      test.onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const args = ["--orders", "2000", "--app", sample];
      const running = startCommand(test, "load", {
        args,
        environment: { TMPDIR: folder, AWS_ENDPOINT_URL_DYNAMODB: "" },
      });
      const leftFolders = () => readdirSync(folder).filter((name) => name.startsWith("onceonly-"));

      await running.said("requests\n");
      if (existsSync("/proc/self/cwd")) expect(processesIn(folder)).not.toEqual([]);
      expect(leftFolders()).not.toEqual([]);
      running.child.kill("SIGINT");

      expect(await running.ended()).toMatchObject({
        status: 130,
        printed: expect.stringContaining("stopped by SIGINT"),
      });
      expect(leftFolders()).toEqual([]);
      if (existsSync("/proc/self/cwd")) expect(processesIn(folder)).toEqual([]);
    });
  });
}
