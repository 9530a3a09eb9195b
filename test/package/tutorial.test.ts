// docs/use/tutorial.md, followed file by file, in an app that `cdk init` makes.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fencesOf } from "../../kit/fences.ts";
import { root } from "../../kit/project.ts";
import { run } from "../../kit/run.ts";
import { type ConsumerProjects, prepareConsumerProjects } from "./projects-world.ts";

const PAGE = "docs/use/tutorial.md";
const TSX = join(root, "node_modules/tsx/dist/cli.mjs");
const PEERS = ["aws-cdk-lib", "constructs", "esbuild", "@types/node", "@aws-sdk/client-dynamodb"];

let projects: ConsumerProjects;
let app: string;

beforeAll(async () => {
  projects = await prepareConsumerProjects();
  app = await projects.createCdkApp("shop", PEERS);
  const page = await readFile(join(root, PAGE), "utf8");
  for (const [, path, code] of page.matchAll(/^`([\w/.-]+\.ts)`.*?```typescript\n(.*?)^```$/gms)) {
    await mkdir(dirname(join(app, path!)), { recursive: true });
    await writeFile(join(app, path!), code!);
  }
}, 180_000);

afterAll(() => projects.remove());

/** Runs the page's command of this name, with the tsx that is installed here in the place of `npx tsx`. */
async function follow(handler: string): Promise<string> {
  const commands = fencesOf(PAGE, "sh").flatMap(({ code }) => code.trim().split("\n"));
  const command = commands.find((line) => line.endsWith(`npx tsx kill.ts ${handler}`))!;
  const table = /^IDEMPOTENCY_TABLE=(\w+) /.exec(command)?.[1];
  const environment: Record<string, string> = table ? { IDEMPOTENCY_TABLE: table } : {};
  return (await run(process.execPath, [TSX, "kill.ts", handler], app, environment)).stdout;
}

it("the careless handler of the tutorial orders twice", async () => {
  expect(await follow("careless")).toMatch(/^careless: .*2 items in orders instead of 1/);
});

it("the handler of the tutorial orders once, whatever happens", async () => {
  expect(await follow("create-order")).toBe("create-order: one order, whatever happens\n");
});

it("the stack of the tutorial synthesizes", async () => {
  // As `npm install` leaves one. The bundling itself is that of the CDK, and needs what is not installed here.
  await writeFile(join(app, "package-lock.json"), "{}");
  const context = JSON.stringify({ "aws:cdk:bundling-stacks": [] });
  const environment = {
    CDK_OUTDIR: join(app, "cdk.out"),
    CDK_VALIDATION: "false",
    CDK_CONTEXT_JSON: context,
  };
  await run(process.execPath, [TSX, "bin/shop.ts"], app, environment);

  const template = JSON.parse(await readFile(join(app, "cdk.out/ShopStack.template.json"), "utf8"));
  expect(JSON.stringify(template)).toContain('"IDEMPOTENCY_TABLE"');
});
