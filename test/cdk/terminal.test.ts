// What a person sees: the real CLI, in an app as `cdk init` makes it today. Nothing is installed for it, since this project's own
// packages stand in for the app's.
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../kit/project.ts";
import { run } from "../kit/run.ts";

const CDK = join(root, "node_modules/aws-cdk/bin/cdk");
const TSX = join(root, "node_modules/tsx/dist/cli.mjs");

const STACK = `
  import { Annotations, CfnParameter, Duration, Stack } from "aws-cdk-lib";
  import { Code, Function, Runtime } from "aws-cdk-lib/aws-lambda";
  import { IdempotencyTable, UseIdempotency } from "${join(root, "lib/cdk/index.ts")}";
  export class ShopStack extends Stack {
    constructor(scope, id) {
      super(scope, id);
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

/** What the CLI prints, with this value of the flag that `cdk init` sets. */
async function synthesized(flag: boolean): Promise<string> {
  const path = join(app, "cdk.json");
  const { context, ...settings } = JSON.parse(await readFile(path, "utf8"));
  const config = {
    ...settings,
    app: `${process.execPath} ${TSX} bin/shop.ts`,
    versionReporting: false,
    notices: false,
    context: { ...context, [FLAG]: flag },
  };
  await writeFile(path, JSON.stringify(config));
  const { stdout, stderr } = await run(process.execPath, [CDK, "synth", "--quiet"], app, {
    CDK_DISABLE_CLI_TELEMETRY: "true",
  });
  return stdout + stderr;
}

describe("cdk synth in an app by cdk init", { timeout: 120_000 }, () => {
  it("sets the flag under which the CLI prints no notes", async () => {
    const { context } = JSON.parse(await readFile(join(app, "cdk.json"), "utf8"));

    expect(context[FLAG]).toBe(true);
  });

  it.each([true, false])(
    "H92: B1: shows what is not checked, beside a warning, with the flag %s",
    async (flag) => {
      const output = await synthesized(flag);

      const shown =
        output.split("whether the retention of ShopStack/Fn is long enough is not checked").length - 1;
      expect(shown, output).toBeGreaterThan(0);
      expect(output).toContain("a warning of the app");
    },
  );
});
