// The readers of queues and streams for functions: Lambda event source mappings and EventBridge pipes, however they were
// created.
import { EVENT_SOURCES } from "../../contract.ts";
import {
  type App,
  objectIn,
  ownerPath,
  QUEUE,
  type Resource,
  TABLES,
  type TemplateProperties,
  valueIn,
} from "./app.ts";

const STREAM = "AWS::Kinesis::Stream";
const CONSUMER = "AWS::Kinesis::StreamConsumer";

/** An event source mapping or a pipe. */
export interface Reader {
  readonly path: string;
  readonly into: readonly Resource[];
  /** The members of `into` that it doesn't wait for. */
  readonly forgotten: readonly Resource[];
  readonly isPipe: boolean;
  /** The ARN of its source. */
  readonly arn: unknown;
  /** The queue, stream or table with that ARN, if this app defines it. */
  readonly source: Resource | undefined;
  /** Batches, retries and destinations, with the names of a mapping even for a pipe. */
  readonly settings: TemplateProperties;
}

interface Readers {
  readonly all: readonly Reader[];
  readonly byTarget: ReadonlyMap<object, readonly Reader[]>;
  readonly bySource: ReadonlyMap<object, readonly Reader[]>;
}

const known = new WeakMap<App, Readers>();

export const readersOf = (app: App) => readersIn(app).all;

/** The readers of a source. */
export const readersFrom = (app: App, source: Resource) => readersIn(app).bySource.get(source) ?? [];

/** The readers that feed a function, its versions or its aliases. */
export const readersInto = (app: App, fn: Resource): readonly Reader[] =>
  readersIn(app).byTarget.get(fn) ?? [];

function readersIn(app: App): Readers {
  const found = known.get(app) ?? readersBy(app);
  known.set(app, found);
  return found;
}

function readersBy(app: App): Readers {
  const all = [
    ...app.ofType("AWS::Lambda::EventSourceMapping").map((each) => mappingIn(app, each)),
    ...app.ofType("AWS::Pipes::Pipe").map((each) => pipeIn(app, each)),
  ];
  const byTarget = new Map<object, Reader[]>();
  const bySource = new Map<object, Reader[]>();
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

function mappingIn(app: App, at: Resource): Reader {
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

function pipeIn(app: App, at: Resource): Reader {
  const { Source: arn, SourceParameters, Target, TargetParameters, Enrichment } = app.propertiesOf(at);
  const parameters = objectIn(SourceParameters);
  const settings = Object.values(EVENT_SOURCES).find(({ pipe }) => pipe && parameters[pipe] !== undefined);
  const targets = app.targetsIn(Target);
  const invocation = valueIn(objectIn(TargetParameters), "LambdaFunctionParameters", "InvocationType");
  return {
    path: ownerPath(at),
    into: [...targets, ...app.targetsIn(Enrichment)],
    forgotten: invocation === "FIRE_AND_FORGET" ? targets : [],
    isPipe: true,
    arn,
    source: sourceIn(app, arn),
    settings: objectIn(settings?.pipe && parameters[settings.pipe]),
  };
}

/** For a stream consumer, the source is its stream. */
function sourceIn(app: App, arn: unknown): Resource | undefined {
  const consumer = app.targetIn(arn, CONSUMER);
  return consumer
    ? sourceIn(app, valueIn(app.propertiesOf(consumer), "StreamARN"))
    : app.targetIn(arn, QUEUE, STREAM, ...TABLES);
}

export const reportsFailures = ({ settings }: Reader) =>
  Object.values(objectIn(settings.FunctionResponseTypes)).includes("ReportBatchItemFailures");
