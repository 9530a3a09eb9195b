// How long Lambda and Pipes can redeliver the records of a stream.
import { type App, ownerPath, type Resource, valueIn } from "../app.ts";
import type { Reader } from "../event-sources.ts";
import { isUnknown, numberIn, type RedeliveryWindow, secondsOf } from "./hop.ts";

const HOUR = 3600;
const KINESIS = "AWS::Kinesis::Stream";

/** https://docs.aws.amazon.com/streams/latest/dev/kinesis-extended-retention.html */
const KINESIS_HOURS = { default: 24, most: 8760 };

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html */
const TABLE_STREAM_SECONDS = 24 * HOUR;

/**
 * A failed batch is retried for as long as the stream keeps it, or until it reaches its maximum record age. A finite number of
 * retries doesn't limit the time. Records that went to a destination can be read again from the stream.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-kinesis-parameters.html
 */
export function streamWindow(app: App, reader: Reader): RedeliveryWindow {
  const { path, settings } = reader;
  const kept = keptWindow(app, reader);
  const age = numberIn(valueIn(settings, "MaximumRecordAgeInSeconds"));
  if (Number.isNaN(age)) return { unknown: `a number of ${path} is only known at deployment` };
  const isParked =
    valueIn(settings, "DestinationConfig") !== undefined ||
    valueIn(settings, "DeadLetterConfig") !== undefined;
  if (age === undefined || age < 0 || isParked) return kept;
  if (!isUnknown(kept) && secondsOf(kept) <= age) return kept;
  return [{ seconds: age, text: `${age} s as the maximum record age of ${path}` }];
}

function keptWindow(app: App, { path, arn, source: stream }: Reader): RedeliveryWindow {
  if (stream?.cfnResourceType === KINESIS) return kinesisWindow(app, stream);
  const isTable = stream !== undefined || /:dynamodb:.*\/stream\//.test(JSON.stringify(arn) ?? "");
  if (!isTable) return { unknown: `this app doesn't say how long the source of ${path} keeps records` };
  const text = `${TABLE_STREAM_SECONDS} s in the stream of ${stream ? ownerPath(stream) : "a table"}`;
  return [{ seconds: TABLE_STREAM_SECONDS, text, limit: "stream" }];
}

/** Kinesis's longest retention is only a warning, because no batch fails for a year. */
function kinesisWindow(app: App, stream: Resource): RedeliveryWindow {
  const path = ownerPath(stream);
  const hours = numberIn(valueIn(app.propertiesOf(stream), "RetentionPeriodHours"));
  if (Number.isNaN(hours)) return { unknown: `a number of ${path} is only known at deployment` };
  const seconds = (hours ?? KINESIS_HOURS.default) * HOUR;
  const term = { seconds, text: `${seconds} s in the stream ${path}` };
  return [hours === undefined || hours === KINESIS_HOURS.most ? { ...term, limit: "stream" } : term];
}
