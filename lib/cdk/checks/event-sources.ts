// What reads queues and streams for functions: event source mappings of Lambda and pipes of EventBridge, however they
// were made.
import type { CfnResource } from "aws-cdk-lib";
import type { IConstruct } from "constructs";
import { ownerPath } from "./resources.ts";
import { objectIn, type ResolvedApp, type TemplateProperties, valueIn } from "./windows/resolved-app.ts";

export const QUEUE = "AWS::SQS::Queue";
export const TABLES = ["AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable"];
const STREAM = "AWS::Kinesis::Stream";
const CONSUMER = "AWS::Kinesis::StreamConsumer";

/** A mapping or a pipe. */
export interface Reader {
  readonly path: string;
  readonly into: readonly CfnResource[];
  /** It does not wait for these of `into`. */
  readonly forgotten: readonly CfnResource[];
  readonly isPipe: boolean;
  /** What it reads, by its ARN. */
  readonly arn: unknown;
  /** The queue, stream or table of that ARN, where it is made in this app. */
  readonly source: CfnResource | undefined;
  /** Batches, retries and destinations. A pipe has the names of a mapping for them. */
  readonly settings: TemplateProperties;
}

interface Readers {
  readonly all: readonly Reader[];
  readonly byTarget: ReadonlyMap<IConstruct, readonly Reader[]>;
  readonly bySource: ReadonlyMap<IConstruct, readonly Reader[]>;
}

const known = new WeakMap<ResolvedApp, Readers>();

export const readersOf = (app: ResolvedApp) => readersIn(app).all;

/** The readers of a source. */
export const readersFrom = (app: ResolvedApp, source: CfnResource) =>
  readersIn(app).bySource.get(source) ?? [];

/** The readers that feed a function, its versions or its aliases. */
export function readersInto({ node }: IConstruct, app: ResolvedApp): readonly Reader[] {
  return (node.defaultChild && readersIn(app).byTarget.get(node.defaultChild)) ?? [];
}

function readersIn(app: ResolvedApp): Readers {
  const found = known.get(app) ?? readersBy(app);
  known.set(app, found);
  return found;
}

function readersBy(app: ResolvedApp): Readers {
  const all = [
    ...app.ofType("AWS::Lambda::EventSourceMapping").map((each) => mappingIn(app, each)),
    ...app.ofType("AWS::Pipes::Pipe").map((each) => pipeIn(app, each)),
  ];
  const byTarget = new Map<IConstruct, Reader[]>();
  const bySource = new Map<IConstruct, Reader[]>();
  for (const reader of all) {
    for (const target of reader.into) collect(byTarget, target, reader);
    if (reader.source) collect(bySource, reader.source, reader);
  }
  return { all, byTarget, bySource };
}

function collect<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const others = map.get(key);
  if (others) others.push(value);
  else map.set(key, [value]);
}

function mappingIn(app: ResolvedApp, at: CfnResource): Reader {
  const settings = app.propertiesOf(at);
  const { EventSourceArn: arn, FunctionName } = settings;
  return {
    path: ownerPath(at),
    into: app.namedIn(FunctionName, "lambda", at),
    forgotten: [],
    isPipe: false,
    arn,
    source: sourceIn(app, arn),
    settings,
  };
}

function pipeIn(app: ResolvedApp, at: CfnResource): Reader {
  const { Source: arn, SourceParameters, Target, TargetParameters, Enrichment } = app.propertiesOf(at);
  const { SqsQueueParameters, KinesisStreamParameters, DynamoDBStreamParameters } =
    objectIn(SourceParameters);
  const targets = app.targetsIn(Target);
  const invocation = valueIn(objectIn(TargetParameters), "LambdaFunctionParameters", "InvocationType");
  return {
    path: ownerPath(at),
    into: [...targets, ...app.targetsIn(Enrichment)],
    forgotten: invocation === "FIRE_AND_FORGET" ? targets : [],
    isPipe: true,
    arn,
    source: sourceIn(app, arn),
    settings: objectIn(SqsQueueParameters ?? KinesisStreamParameters ?? DynamoDBStreamParameters),
  };
}

/** A consumer of a stream stands for its stream. */
function sourceIn(app: ResolvedApp, arn: unknown): CfnResource | undefined {
  const consumer = app.targetIn(arn, CONSUMER);
  return consumer
    ? sourceIn(app, valueIn(app.propertiesOf(consumer), "StreamARN"))
    : app.targetIn(arn, QUEUE, STREAM, ...TABLES);
}
