// A server at the edge of AWS's clients: CloudFormation, Lambda, CloudWatch, EventBridge and its schedules answer from what a test
// says lives. Tables and queues are on engines.
import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { SQS } from "@aws-sdk/client-sqs";

/** What stands in a template, as `JSON.parse` types what it reads. */
export type Json = ReturnType<typeof JSON.parse>;
export type Properties = Record<string, Json>;

/** What the server of AWS knows. */
export interface Edge {
  readonly regions: string[];
  /** By name or ARN: the logical id, type and physical id of each resource. */
  readonly stacks: Record<string, { id: string; type: string; physical: string }[]>;
  /** By name. */
  readonly functions: Record<string, Properties>;
  readonly concurrency: Record<string, number>;
  readonly policies: Record<string, object>;
  mappings: Properties[];
  rules: Record<string, { State: string; ScheduleExpression: string; targets: string[] }>;
  schedules: {
    Name: string;
    GroupName: string;
    State: string;
    ScheduleExpression: string;
    Target: { Arn: string };
  }[];
  alarms: Properties[];
  /** By name of a table. */
  readonly backups: Record<string, boolean>;
  /** Operations that are answered by this error. */
  readonly refused: Record<string, string>;
  pageSize: number;
  /** Changes what an engine says of a table. */
  describeTable: (table: Properties, region: string) => void;
  /** What was asked: Region and operation. */
  asked: { region: string; operation: string }[];
}

export interface AwsWorld {
  readonly edgeOf: () => Edge;
  /** The endpoint of DynamoDB. */
  readonly engine: string;
  readonly queuesOf: (region: string) => Promise<{ readonly sqs: SQS }>;
}

export async function answerAsAws(
  request: IncomingMessage,
  response: ServerResponse,
  { edgeOf, engine, queuesOf }: AwsWorld,
): Promise<void> {
  const body = await buffer(request);
  const edge = edgeOf();
  const region = regionOf(request);
  const service = scopeOf(request)[2] ?? "";
  const url = new URL(`${request.url}`, "http://127.0.0.1");
  const operation = operationOf(service, request, url, body.toString());
  edge.asked.push({ region, operation });
  const [status, answered] = await answerOf();
  const isXml = service === "cloudformation";
  response
    .writeHead(status, {
      "content-type": isXml ? "text/xml" : "application/x-amz-json-1.0",
      ...(status >= 400 && { "x-amzn-errortype": (answered as Properties).__type }),
    })
    .end(isXml ? xmlOf(operation, status, answered as Properties) : JSON.stringify(answered));

  async function answerOf(): Promise<readonly [number, object]> {
    const refusal = edge.refused[operation] ?? edge.refused[service];
    if (refusal !== undefined) return [400, { __type: refusal, message: `canary of ${refusal}` }];
    if (!edge.regions.includes(region)) return [400, notFound(service)];
    if (service === "dynamodb") return dynamodbAnswer(edge, operation, request, body, engine);
    if (service === "sqs") return sqsAnswer((await queuesOf(region)).sqs, body.toString());
    return edgeAnswer(edge, operation, url, body.toString());
  }
}

const scopeOf = (request: IncomingMessage) =>
  /Credential=[^/]+\/\d+\/([\w-]+)\/([\w-]+)\//.exec(`${request.headers.authorization}`) ?? [];

const regionOf = (request: IncomingMessage) => scopeOf(request)[1] ?? "";

const notFound = (service: string) => ({
  __type: service === "cloudformation" ? "ValidationError" : "ResourceNotFoundException",
  message: "not found",
});

const LAMBDA: readonly (readonly [RegExp, string])[] = [
  [/\/functions\/[^/]+\/configuration$/, "GetFunctionConfiguration"],
  [/\/functions\/[^/]+\/concurrency$/, "GetFunctionConcurrency"],
  [/\/functions\/[^/]+\/policy$/, "GetPolicy"],
  [/\/event-source-mappings\/?$/, "ListEventSourceMappings"],
  [/\/event-source-mappings\/[^/]+$/, "GetEventSourceMapping"],
  [/^\/schedules\/?$/, "ListSchedules"],
  [/^\/schedules\/[^/]+$/, "GetSchedule"],
];

function operationOf(service: string, request: IncomingMessage, url: URL, body: string): string {
  if (service === "cloudformation") return `${new URLSearchParams(body).get("Action")}`;
  const target = request.headers["x-amz-target"];
  if (target !== undefined) return `${target}`.split(".").at(-1)!;
  return LAMBDA.find(([path]) => path.test(url.pathname))?.[1] ?? url.pathname;
}

async function dynamodbAnswer(
  edge: Edge,
  operation: string,
  request: IncomingMessage,
  body: Buffer,
  engine: string,
): Promise<readonly [number, object]> {
  const { TableName } = JSON.parse(body.toString());
  if (operation === "DescribeContinuousBackups") {
    const PointInTimeRecoveryStatus = edge.backups[TableName] ? "ENABLED" : "DISABLED";
    return [
      200,
      { ContinuousBackupsDescription: { PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus } } },
    ];
  }
  const headers = {
    "x-amz-target": `${request.headers["x-amz-target"]}`,
    authorization: `${request.headers.authorization}`,
  };
  const answered = await fetch(engine, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/x-amz-json-1.0",
      "x-amz-date": `${request.headers["x-amz-date"]}`,
    },
    body: new Uint8Array(body),
  });
  const said = (await answered.json()) as Properties;
  if (operation === "DescribeTable" && said.Table) edge.describeTable(said.Table, regionOf(request));
  return [answered.status, said];
}

/** A queue by the URL that it has on AWS. */
async function sqsAnswer(sqs: SQS, body: string): Promise<readonly [number, object]> {
  const { QueueUrl, ...input } = JSON.parse(body);
  const endpoint = await sqs.config.endpoint!();
  const own = `http://${endpoint.hostname}:${endpoint.port}${new URL(QueueUrl).pathname}`;
  try {
    const { Attributes } = await sqs.getQueueAttributes({ ...input, QueueUrl: own });
    return [200, { Attributes }];
  } catch (error) {
    return [400, { __type: (error as Error).name, message: "canary" }];
  }
}

function edgeAnswer(edge: Edge, operation: string, url: URL, body: string): readonly [number, object] {
  const missing = [404, notFound("lambda")] as const;
  const input =
    operation === "ListStackResources"
      ? Object.fromEntries(new URLSearchParams(body))
      : Object(body && JSON.parse(body));
  const [, , , name = ""] = decodeURIComponent(url.pathname).split("/");
  const page = <T>(all: readonly T[], from: unknown) => {
    const first = Number(from ?? 0);
    const next = first + edge.pageSize;
    return { items: all.slice(first, next), ...(next < all.length && { next: `${next}` }) };
  };
  switch (operation) {
    case "ListStackResources": {
      const resources = edge.stacks[input.StackName];
      return resources ? [200, page(resources, input.NextToken)] : [400, notFound("cloudformation")];
    }
    case "GetFunctionConfiguration":
      return edge.functions[name] ? [200, edge.functions[name]] : missing;
    case "GetFunctionConcurrency":
      return [200, name in edge.concurrency ? { ReservedConcurrentExecutions: edge.concurrency[name] } : {}];
    case "GetPolicy":
      return edge.policies[name] ? [200, { Policy: JSON.stringify(edge.policies[name]) }] : missing;
    case "ListEventSourceMappings": {
      const source = url.searchParams.get("EventSourceArn");
      const fn = url.searchParams.get("FunctionName");
      const all = edge.mappings.filter((each) =>
        source === null ? each.FunctionArn.endsWith(`:${fn}`) : each.EventSourceArn === source,
      );
      const { items, next } = page(all, url.searchParams.get("Marker") ?? undefined);
      return [200, { EventSourceMappings: items, NextMarker: next }];
    }
    case "GetEventSourceMapping": {
      const found = edge.mappings.find(({ UUID }) => UUID === name);
      return found ? [200, found] : missing;
    }
    case "ListRuleNamesByTarget": {
      const of = Object.entries(edge.rules).filter(([, { targets }]) => targets.includes(input.TargetArn));
      return [200, { RuleNames: of.map(([rule]) => rule) }];
    }
    case "DescribeRule":
      return edge.rules[input.Name] ? [200, edge.rules[input.Name]!] : missing;
    case "DescribeAlarms": {
      const { AlarmNames, AlarmNamePrefix } = input;
      const isMeant = (alarm: string) => AlarmNames?.includes(alarm) ?? alarm.startsWith(AlarmNamePrefix);
      const { items, next } = page(
        edge.alarms.filter(({ AlarmName }) => isMeant(AlarmName)),
        input.NextToken,
      );
      return [200, { MetricAlarms: items, NextToken: next }];
    }
    case "ListSchedules":
      return [200, { Schedules: edge.schedules }];
    case "GetSchedule":
      return [200, edge.schedules.find(({ Name }) => url.pathname.endsWith(`/${Name}`)) ?? {}];
    default:
      return [400, { __type: "UnknownOperationException", message: operation }];
  }
}

function xmlOf(operation: string, status: number, answered: Properties): string {
  if (status >= 400)
    return `<ErrorResponse><Error><Type>Sender</Type><Code>${answered.__type}</Code><Message>${answered.message}</Message></Error></ErrorResponse>`;
  const members = answered.items.map(
    ({ id, type, physical }: { id: string; type: string; physical: string }) =>
      `<member><LogicalResourceId>${id}</LogicalResourceId><PhysicalResourceId>${physical}</PhysicalResourceId><ResourceType>${type}</ResourceType><ResourceStatus>UPDATE_COMPLETE</ResourceStatus></member>`,
  );
  const next = answered.next === undefined ? "" : `<NextToken>${answered.next}</NextToken>`;
  return `<${operation}Response><${operation}Result><StackResourceSummaries>${members.join("")}</StackResourceSummaries>${next}</${operation}Result></${operation}Response>`;
}
