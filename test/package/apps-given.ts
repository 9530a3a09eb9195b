// Two apps around the same stack. The first is as `cdk init` makes it, with stand-ins for what `cdk init` would install
// from a registry. The second has ES modules.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../kit/project.ts";
import { run } from "../kit/run.ts";
import type { ConsumerProjects } from "./projects-world.ts";

const CONSTRUCTS = ["aws-cdk-lib", "constructs"];
const TSX = join(root, "node_modules/tsx/dist/cli.mjs");

/** @param peers beside those of the stack and of its test */
export async function createInitApp(
  projects: ConsumerProjects,
  peers: readonly string[] = [],
): Promise<string> {
  const own = [...CONSTRUCTS, "@types/node", "@jest/globals", "esbuild"];
  const app = await projects.createCdkApp("shop", [...own, ...peers]);
  await projects.copy("shop-stack.ts", join(app, "lib/shop-stack.ts"));
  await projects.copy("cdk-app/stack-test.ts", join(app, "test/shop.test.ts"));
  await projects.copy("cdk-app/stand-ins/swc-jest.cjs", join(app, "node_modules/@swc/jest/index.js"));
  await projects.copy("cdk-app/stand-ins/jest-types.d.ts", join(app, "node_modules/@types/jest/index.d.ts"));
  return app;
}

export async function createModulesApp(projects: ConsumerProjects): Promise<string> {
  const app = await projects.create("cdk-esm", CONSTRUCTS);
  await projects.copy("shop-stack.ts", join(app, "shop-stack.ts"));
  return app;
}

/** Answers the template of `ShopStack`. */
export async function synthesize(app: string, main: string): Promise<{ Resources: object }> {
  const outdir = join(app, "cdk.out");
  // CloudFormation's rules take longer than all the rest, and the tests of the constructs go by them.
  await run(process.execPath, [TSX, main], app, { CDK_OUTDIR: outdir, CDK_VALIDATION: "false" });
  return JSON.parse(await readFile(join(outdir, "ShopStack.template.json"), "utf8"));
}
