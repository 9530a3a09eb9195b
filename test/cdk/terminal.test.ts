// What a person sees: the real CLI, in an app as `cdk init` makes it today. Nothing is installed for it, since this project's own
// packages stand in for the app's.
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../kit/project.ts";
import { run } from "../kit/run.ts";
import { MISCONFIGURATIONS } from "./misconfigurations/cases/all.ts";

const CDK = join(root, "node_modules/aws-cdk/bin/cdk");
const TSX = join(root, "node_modules/tsx/dist/cli.mjs");

const STACK = `
  import { Annotations, CfnParameter, Duration, Stack, Stage } from "aws-cdk-lib";
  import { Code, Function, Runtime } from "aws-cdk-lib/aws-lambda";
  import { IdempotencyTable, UseIdempotency } from "${join(root, "lib/cdk/index.ts")}";
  import { MISCONFIGURATIONS } from "${join(root, "test/cdk/misconfigurations/cases/all.ts")}";
  const noted = MISCONFIGURATIONS.filter(({ verdict }) => verdict === "noted");
  const ONE_OF_EACH_KIND = new Map(noted.map((each) => [each.by, each])).values();
  export class ShopStack extends Stack {
    constructor(scope, id) {
      super(scope, id);
      // One of each kind in a stack, and one in a stage.
      const env = { account: "111111111111", region: "eu-west-1" };
      for (const { number, make } of ONE_OF_EACH_KIND) {
        make(new Stack(this.node.root, "Plain" + number, { env }));
        make(new Stack(new Stage(this.node.root, "Stage" + number, { env }), "Staged" + number));
      }
      // Beside a warning the CLI leaves notes out of its report.
      Annotations.of(this).addWarningV2("shop:own", "a warning of the app");
      const fn = new Function(this, "Fn", {
        runtime: Runtime.NODEJS_24_X,
        handler: "index.handler",
        code: Code.fromInline("exports.handler = () => {}"),
      });
      const retention = Duration.seconds(new CfnParameter(this, "Retention", { type: "Number" }).valueAsNumber);
      fn.with(new UseIdempotency(new IdempotencyTable(this, "Table"), { operations: ["pay"], retention }));
    }
  }`;

const FLAG = "@aws-cdk/core:annotationsInValidationReport";

let home: string;
let app: string;

beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "terminal-")));
  app = join(home, "shop");
  await mkdir(app);
  await run(process.execPath, [CDK, "init", "app", "--language", "typescript", "--generate-only"], app, {
    CDK_DISABLE_CLI_TELEMETRY: "true",
  });
  await symlink(join(root, "node_modules"), join(app, "node_modules"), "junction");
  await writeFile(join(app, "lib/shop-stack.ts"), STACK);
}, 60_000);
afterAll(() => rm(home, { recursive: true, force: true }));

/** What the CLI prints of all stacks and stages, with this value of the flag that `cdk init` sets. */
async function synthesized(flag: boolean): Promise<string> {
  const path = join(app, "cdk.json");
  const { context, ...settings } = JSON.parse(await readFile(path, "utf8"));
  const config = {
    ...settings,
    app: `${process.execPath} ${TSX} --tsconfig ${join(root, "tsconfig.json")} bin/shop.ts`,
    versionReporting: false,
    notices: false,
    context: { ...context, [FLAG]: flag },
  };
  await writeFile(path, JSON.stringify(config));
  const { stdout, stderr } = await run(process.execPath, [CDK, "synth", "--quiet", "**"], app, {
    CDK_DISABLE_CLI_TELEMETRY: "true",
  });
  return stdout + stderr;
}

const NOTED = MISCONFIGURATIONS.filter(({ verdict }) => verdict === "noted");

/** The last row of each kind. */
const ONE_OF_EACH_KIND = [...new Map(NOTED.map((each) => [each.by, each])).values()];

/** A line that a construct prints, or a paragraph of the CLI's report. */
const notesIn = (output: string) => output.split(/\n\n|\n(?=\[Info)/);

describe("cdk synth in an app by cdk init", { timeout: 240_000 }, () => {
  it("sets the flag under which the CLI prints no notes", async () => {
    const { context } = JSON.parse(await readFile(join(app, "cdk.json"), "utf8"));

    expect(context[FLAG]).toBe(true);
  });

  it.each([true, false])(
    "H92: B1: shows notes about unchecked settings, next to a warning, with the flag %s",
    async (flag) => {
      const output = await synthesized(flag);

      const shown =
        output.split("can't check whether the retention of ShopStack/Fn is long enough").length - 1;
      expect(shown, output).toBeGreaterThan(0);
      expect(output).toContain("a warning of the app");
      const notes = notesIn(output);
      const places = ONE_OF_EACH_KIND.flatMap(({ number, by }) => [
        [by, `Plain${number}/`] as const,
        [by, `/Staged${number}/`] as const,
      ]);
      const unseen = places.filter(
        (both) => !notes.some((each) => both.every((part) => each.includes(part))),
      );
      expect(unseen, output).toEqual([]);
    },
  );

  it("H92: has a row for every kind of note that the constructs make", async () => {
    const folder = join(root, "lib/cdk");
    const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".ts"));
    const sources = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
    const made = sources.flatMap((source) =>
      [...source.matchAll(/\bnote\(\s*\w+,\s*"onceonly:([\w-]+)"|"noted",\s*"([\w-]+)"/g)].map(
        ([, ours, ofRule]) => `onceonly:${ours ?? ofRule}`,
      ),
    );

    expect(new Set(NOTED.map(({ by }) => by))).toEqual(new Set(made));
  });
});
