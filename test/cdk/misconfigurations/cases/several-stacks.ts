// Apps of several stacks, stages and regions with nothing wrong.
import { Duration, Fn, NestedStack, Stack, Stage } from "aws-cdk-lib";
import { Role } from "aws-cdk-lib/aws-iam";
import { CfnEventSourceMapping, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { DedupQueue, IdempotencyTable, type IIdempotencyTable, OutboxRelay, Reconciler } from "onceonly/cdk";
import { aFunction } from "../../given.ts";
import { ENV, runner, tableIn } from "../given.ts";

/** The same names in two regions and two stages mean different things. */
function inTwoRegions(stack: Stack): void {
  for (const region of ["eu-west-1", "eu-west-2"]) {
    const isFar = region === "eu-west-2";
    const stage = new Stage(stack.node.root, region, { env: { ...ENV, region } });
    const [own, other] = [new Stack(stage, "Own"), new Stack(stage, "Other")];
    if (!isFar) runner(own, { retention: Duration.days(1), fn: { functionName: "pay" } });
    else runner(own, { fn: { functionName: "pay" } });
    if (!isFar) continue;
    const role = Role.fromRoleArn(other, "Role", "arn:aws:iam::111111111111:role/pay");
    const functionArn = `arn:aws:lambda:${region}:111111111111:function:pay`;
    const fn = LambdaFunction.fromFunctionAttributes(other, "Fn", { functionArn, role });
    fn.addEventSource(new SqsEventSource(new Queue(other, "Queue"), { reportBatchItemFailures: true }));
  }
}

/** Two stages for accounts that are known at deployment only, with one name for what each has. */
function inTwoStages(stack: Stack): void {
  for (const id of ["Beta", "Prod"]) {
    const stage = new Stage(stack.node.root, id);
    const [own, other] = [new Stack(stage, "Own"), new Stack(stage, "Other")];
    const attributes = {
      tableName: "records",
      tableStreamArn: "arn:aws:dynamodb:eu-west-1:1:table/records/stream/1",
    };
    const table = IdempotencyTable.fromTableAttributes(own, "Table", attributes);
    new OutboxRelay(own, "Outbox", { table, destinations: [new Queue(own, "To")] });
    const retention = Duration.days(id === "Beta" ? 1 : 60);
    runner(own, { table, retention, operations: ["pay"], fn: { functionName: "pay" } });
    new DedupQueue(own, "Named", { queueName: `${Fn.importValue("prefix")}.fifo` });
    if (id === "Beta") continue;
    const fn = LambdaFunction.fromFunctionName(other, "Fn", "pay");
    for (const functionName of [fn.functionName, "pay"]) {
      const { queueArn: eventSourceArn, node } = new Queue(other, `Queue${functionName.length}`);
      const functionResponseTypes = ["ReportBatchItemFailures"];
      new CfnEventSourceMapping(other, `Mapping${node.id}`, {
        eventSourceArn,
        functionName,
        functionResponseTypes,
      });
    }
  }
}

/** Stages of accounts of their own, or without one, may use one name. */
function namedInStages(stack: Stack): void {
  const accounts = [undefined, undefined, "222222222222", "333333333333"];
  for (const [index, account] of accounts.entries()) {
    const env = account === undefined ? {} : { account, region: "eu-west-1" };
    const own = new Stack(new Stage(stack.node.root, `Stage${index}`, { env }), "Shop");
    runner(own, { table: tableIn(own, { tableName: "records" }) });
    new DedupQueue(own, "Queue", { queueName: "orders.fifo" });
  }
}

/** Each part in a stack that asks for outputs of the others. */
function inThreeStacks(stack: Stack): void {
  const [data, queues, services] = ["Data", "Queues", "Services"].map(
    (id) => new Stack(stack.node.root, id, { env: ENV }),
  );
  across(data as Stack, queues as Stack, services as Stack);
}

function nested(stack: Stack): void {
  const [data, queues, services] = ["Data", "Queues", "Services"].map((id) => new NestedStack(stack, id));
  across(data as Stack, queues as Stack, services as Stack);
}

function across(data: Stack, queues: Stack, services: Stack): void {
  const table = tableIn(data, { outbox: true, unknownOutcomes: true });
  const queue = new DedupQueue(queues, "Queue");
  const fn = runner(services, { table, commits: true });
  fn.addEventSource(new SqsEventSource(queue.queue, { reportBatchItemFailures: true }));
  new OutboxRelay(services, "Outbox", { table, destinations: [queue.queue] });
  reconciled(services, table);
}

export function reconciled(stack: Stack, table: IIdempotencyTable): void {
  const handler = aFunction(stack, "Verifier", { timeout: Duration.seconds(30) });
  new Reconciler(stack, "Reconciler", { table, handler });
}

export const CORRECT_STACKS: readonly (readonly [title: string, make: (stack: Stack) => unknown])[] = [
  ["one name in two regions", inTwoRegions],
  ["one name in two stages", inTwoStages],
  ["tables and queues of one name in stages that may be of several accounts", namedInStages],
  ["a table, a queue and a consumer in three stacks", inThreeStacks],
  ["a table, a queue and a consumer in nested stacks", nested],
];
