// Growth of a CDK app: what the template and the synthesis of a function cost among many functions.
import { App, Stack } from "aws-cdk-lib";
import { Code, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { IdempotencyTable, UseIdempotency } from "onceonly/cdk";
import { byEffort, type Effort } from "../effort.ts";
import { type Growth, growthOf } from "./series.ts";

/** CloudFormation allows 500 resources in a stack. */
const FUNCTIONS_IN_A_STACK = 100;

export async function synthesisGrowth(_endpoint: string, effort: Effort): Promise<readonly Growth[]> {
  const most = byEffort(effort, { quick: 10, short: 100, full: 400 });
  // The first synthesis compiles the code.
  synthesize(1);
  return [await growthOf("functions in a CDK app", [10, 100, 400], most, async (count) => synthesize(count))];
}

function synthesize(count: number) {
  const before = process.cpuUsage();
  const app = new App();
  const table = new IdempotencyTable(new Stack(app, "Records"), "Table");
  let stack: Stack | undefined;
  for (let index = 0; index < count; index++) {
    if (!stack || index % FUNCTIONS_IN_A_STACK === 0) stack = new Stack(app, `Functions${index}`);
    const code = Code.fromInline("exports.handler = async () => 1;");
    const props = { runtime: Runtime.NODEJS_22_X, handler: "index.handler", code };
    new LambdaFunction(stack, `Function${index}`, props).with(new UseIdempotency(table));
  }
  const { stacks } = app.synth();
  const { user, system } = process.cpuUsage(before);
  const bytes = stacks.reduce((sum, { template }) => sum + JSON.stringify(template).length, 0);
  return {
    "bytes of templates per function": bytes / count,
    "ms of processor time per function": (user + system) / 1000 / count,
  };
}
