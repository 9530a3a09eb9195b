// `onceonly start` on five foreign apps, in the shapes that companies have: a change of their code is picked up while they
// run. Each app is copied, because its files change.
import { readFileSync, writeFileSync } from "node:fs";
import { cp, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, inject, it } from "vitest";
import { root } from "../../../../test/kit/project.ts";
import { inTier } from "../../../../test/setup/tier.ts";
import { type RunningStack, startStack } from "../../lib/index.ts";
import { until } from "./world.ts";

const cleanups: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface RunningApp {
  readonly stack: RunningStack;
  readonly changes: readonly string[];
  readonly lines: readonly string[];
  /** What the app's handler answers. */
  answer(): Promise<unknown>;
  /** Replaces text in a file of the app. */
  edit(file: string, from: string, to: string): void;
}

async function startCopy(name: string, folder: string, fn: string): Promise<RunningApp> {
  const copy = await realpath(await mkdtemp(join(tmpdir(), "onceonly-test-company-")));
  cleanups.push(() => rm(copy, { recursive: true }));
  await cp(join(root, "test/fixtures/companies", name), copy, { recursive: true });
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  await writeFile(
    join(copy, folder, "tsconfig.json"),
    JSON.stringify({ extends: join(root, "tsconfig.json") }),
  );
  const changes: string[] = [];
  const lines: string[] = [];
  const stack = await startStack({
    folder: join(copy, folder),
    dynamodbEndpoint: inject("dynamodbEngines")[0]?.endpoint,
    watch: (line) => changes.push(line),
    log: (line) => lines.push(line),
  });
  cleanups.push(stack.stop);
  return {
    stack,
    changes,
    lines,
    async answer() {
      const result = await stack.functions[fn]?.host.invoke("{}");
      if (result?.outcome !== "ok") throw new Error(JSON.stringify([result, changes]));
      const answered = JSON.parse(result.payload);
      return answered?.body ?? answered;
    },
    edit(file, from, to) {
      const path = join(copy, file);
      writeFileSync(path, readFileSync(path, "utf8").replace(from, to));
    },
  };
}

const pickedUp = ({ changes }: RunningApp) =>
  until(() => changes.find((line) => line.startsWith("picked up")));

/** Imports from another team's account: it has no queue and no topic here. */
const FOREIGN_QUEUE = expect.stringContaining("arn:aws:sqs:us-west-2:999999999999:orders isn't a queue");

const APPS: [app: string, name: string, folder: string, fn: string, file: string, notRun: unknown[]][] = [
  ["a monorepo with a concrete stage", "pipeline", "infra", "Prod-Billing/Pay", "services/pay/answer.ts", []],
  ["a CDK app with plain assets", "plain-assets", "", "Orders", "compiled/orders/answer.js", [FOREIGN_QUEUE]],
  ["a CDK app that builds its handlers", "built-app", "", "Stock", "src/stock.ts", []],
  ["a plain template", "template", "", "Mail", "code/mail.mjs", []],
  ["a SAM template", "sam", "", "Quote", "src/quote/app.mjs", []],
];

describe.each(inTier(APPS.slice(0, 2), APPS))("%s", (_, name, folder, fn, file, notRun) => {
  it("B13: runs, and answers with changed code while it runs", { timeout: 180_000 }, async () => {
    const app = await startCopy(name, folder, fn);
    expect(await app.answer()).toBe("one");
    expect(app.stack.notRun).toEqual(notRun);
    const queues = Object.keys(app.stack.queues);
    const startedAtMs = Date.now();

    app.edit(file, "one", "two");
    const line = await pickedUp(app);
    const seconds = (Date.now() - startedAtMs) / 1000;

    expect(line).toMatch(new RegExp(`^picked up after [\\d.]+ s: ${fn}$`));
    expect(await app.answer()).toBe("two");
    expect(Object.keys(app.stack.queues)).toEqual(queues);
    expect(app.changes.filter((each) => each.startsWith("needs a restart"))).toEqual([]);
    console.log(`${name}: ${seconds.toFixed(1)} s from the edit to the new code`);
  });
});
