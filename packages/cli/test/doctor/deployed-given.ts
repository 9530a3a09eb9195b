// The sample as it is deployed. Its table and queues are on local engines, and a server at the edge of AWS's clients answers for
// what has no local engine. What lives can be changed by hand.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type CreateTableCommandInput,
  DynamoDB,
  type TimeToLiveSpecification,
} from "@aws-sdk/client-dynamodb";
import { SQS } from "@aws-sdk/client-sqs";
import { inject } from "vitest";
import { startSqs } from "../../../local/lib/sqs/start-sqs.ts";
import { type AwsWorld, answerAsAws, type Edge, type Json, type Properties } from "./aws-edge-given.ts";
import { sampleTemplate } from "./sample-template-given.ts";

export const ACCOUNT = "123456789012";
export const SECRET = "canary-4711-token";
const CREDENTIALS = { accessKeyId: "local", secretAccessKey: "local" };

type Template = { readonly Resources: Record<string, { readonly Type: string; Properties?: Properties }> };

const logicalIds = new Map<string, string>();

/** The logical id of the sample that begins so. */
export function idOf(beginning: string): string {
  const known = logicalIds.get(beginning);
  if (known !== undefined) return known;
  const found = Object.keys(template().Resources).filter((id) => id.startsWith(beginning));
  if (found.length !== 1) throw new Error(`${found.length} resources begin with ${beginning}`);
  logicalIds.set(beginning, found[0]!);
  return found[0]!;
}

let synthesized: Template | undefined;
const template = (): Template => {
  synthesized ??= sampleTemplate() as Template;
  return synthesized;
};

export async function startAws() {
  const engine = inject("dynamodbEngines")[0]!.endpoint;
  const dynamodb = new DynamoDB({ endpoint: engine, region: "us-east-1", credentials: CREDENTIALS });
  const queues = new Map<string, { readonly sqs: SQS; stop(): Promise<void> }>();
  const queuesOf = async (region: string) => {
    const known = queues.get(region);
    if (known) return known;
    const started = await startSqs({ region, accountId: ACCOUNT });
    const sqs = new SQS({ endpoint: started.endpoint, region, credentials: CREDENTIALS });
    queues.set(region, { sqs, stop: started.stop });
    return { sqs };
  };
  const { sqs } = await queuesOf("us-east-1");
  let edge: Edge | undefined;
  const world: AwsWorld = { edgeOf: () => edge!, engine, queuesOf };
  const server = createServer((request, response) => void answerAsAws(request, response, world));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    dynamodb,
    sqs,

    /** Deploys the sample anew, under names of its own. */
    async deploy(region = "us-east-1") {
      const sample = await deploySample(dynamodb, (await queuesOf(region)).sqs, region);
      edge = sample.edge;
      return sample;
    },

    async stop() {
      for (const client of [dynamodb, ...[...queues.values()].map((each) => each.sqs)]) client.destroy();
      server.closeAllConnections();
      await Promise.all([
        new Promise((resolve) => server.close(resolve)),
        ...[...queues.values()].map((each) => each.stop()),
      ]);
    },
  };
}

export type Aws = Awaited<ReturnType<typeof startAws>>;
export type Sample = Awaited<ReturnType<Aws["deploy"]>>;

async function deploySample(dynamodb: DynamoDB, sqs: SQS, region: string) {
  const { Resources } = template();
  const run = randomUUID().slice(0, 8);
  const physical: Record<string, string> = {};
  const attributes: Record<string, Record<string, string>> = {};
  const edge: Edge = {
    regions: [region],
    stacks: { sample: [] },
    functions: {},
    concurrency: {},
    policies: {},
    mappings: [],
    rules: {},
    schedules: [],
    alarms: [],
    backups: {},
    refused: {},
    pageSize: 100,
    describeTable: () => {},
    asked: [],
  };
  const of = (...types: string[]) =>
    Object.entries(Resources)
      .filter(([, { Type }]) => types.includes(Type))
      .map(([id, { Properties = {} }]) => [id, Properties] as const);
  const resolve = (value: unknown): Json => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(resolve);
    const [[name = "", inner] = []] = Object.entries(value);
    if (name === "Ref") return physical[inner] ?? (inner === "PaymentGatewayToken" ? SECRET : `${inner}`);
    if (name === "Fn::GetAtt") return attributes[inner[0]]?.[inner[1]] ?? `${inner}`;
    if (name === "Fn::Join") return inner[1].map(resolve).join(inner[0]);
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, resolve(each)]));
  };
  for (const [id, { Type }] of Object.entries(Resources)) {
    const isNamed = /Lambda::Function|Table|Rule|Alarm/.test(Type);
    if (isNamed) physical[id] = `${id}-${run}`;
    const name = `${physical[id]}`;
    if (Type === "AWS::Lambda::Function")
      attributes[id] = { Arn: `arn:aws:lambda:${region}:${ACCOUNT}:function:${name}` };
  }
  const table = idOf("IdempotencyC");
  attributes[table] = {
    StreamArn: await createTable(dynamodb, physical[table]!, Resources[table]!.Properties!),
  };
  edge.backups[physical[table]!] = true;
  const queues = of("AWS::SQS::Queue").toSorted(([, left]) => (left.RedrivePolicy ? 1 : -1));
  for (const [id, properties] of queues) {
    const name = `${id}-${run}.fifo`;
    const { SqsManagedSseEnabled: _, ...others } = resolve(properties);
    const Attributes = Object.fromEntries(
      Object.entries(others).map(([key, value]) => [
        key,
        typeof value === "object" ? JSON.stringify(value) : `${value}`,
      ]),
    );
    const { QueueUrl } = await sqs.createQueue({ QueueName: name, Attributes });
    physical[id] = `${QueueUrl}`;
    const { Attributes: made = {} } = await sqs.getQueueAttributes({
      QueueUrl,
      AttributeNames: ["QueueArn"],
    });
    attributes[id] = { Arn: `${made.QueueArn}`, QueueName: name };
  }
  for (const [id, properties] of of("AWS::Lambda::Function")) {
    const { Runtime, Timeout, Environment } = resolve(properties);
    edge.functions[physical[id]!] = {
      FunctionName: physical[id],
      FunctionArn: attributes[id]!.Arn,
      Runtime,
      Timeout,
      Environment,
      State: "Active",
      LastUpdateStatus: "Successful",
    };
  }
  for (const [id, properties] of of("AWS::Lambda::EventSourceMapping")) {
    physical[id] = randomUUID();
    const { FunctionName, Enabled: _, ...others } = resolve(properties);
    const FunctionArn = `arn:aws:lambda:${region}:${ACCOUNT}:function:${FunctionName}`;
    edge.mappings.push({ UUID: physical[id], State: "Enabled", ...others, FunctionArn });
  }
  for (const [id, properties] of of("AWS::Events::Rule")) {
    const { State, ScheduleExpression, Targets } = resolve(properties);
    edge.rules[physical[id]!] = {
      State,
      ScheduleExpression,
      targets: Targets.map(({ Arn }: { Arn: string }) => Arn),
    };
  }
  for (const [id, properties] of of("AWS::CloudWatch::Alarm"))
    edge.alarms.push({ ActionsEnabled: true, ...resolve(properties), AlarmName: physical[id] });
  for (const [, properties] of of("AWS::Lambda::Permission")) {
    const { FunctionName, Principal } = resolve(properties);
    const name = `${FunctionName}`.split(":").at(-1)!;
    edge.policies[name] = { Statement: [{ Effect: "Allow", Principal: { Service: Principal } }] };
  }
  edge.stacks.sample = Object.entries(Resources).map(([id, { Type: type }]) => ({
    id,
    type,
    physical: physical[id] ?? `${id}-${run}`,
  }));
  return {
    edge,
    dynamodb,
    sqs,
    /** The physical id of the resource whose logical id begins so. */
    name: (beginning: string) => physical[idOf(beginning)]!,
    function: (beginning: string) => edge.functions[physical[idOf(beginning)]!]!,
    mapping: (beginning: string) => edge.mappings.find(({ UUID }) => UUID === physical[idOf(beginning)])!,
    alarms: (pattern: RegExp) => edge.alarms.filter(({ AlarmName }) => pattern.test(AlarmName)),
  };
}

async function createTable(dynamodb: DynamoDB, TableName: string, properties: Properties): Promise<string> {
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, StreamSpecification } = properties;
  const { TableDescription } = await dynamodb.createTable({
    TableName,
    KeySchema,
    AttributeDefinitions,
    GlobalSecondaryIndexes,
    BillingMode: "PAY_PER_REQUEST",
    DeletionProtectionEnabled: true,
    StreamSpecification: { StreamEnabled: true, ...StreamSpecification },
  } as CreateTableCommandInput);
  const TimeToLiveSpecification: TimeToLiveSpecification = properties.TimeToLiveSpecification;
  await dynamodb.updateTimeToLive({ TableName, TimeToLiveSpecification });
  return `${TableDescription?.LatestStreamArn}`;
}
