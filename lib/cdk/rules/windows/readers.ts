// How long a Lambda event source mapping, or an EventBridge pipe, can redeliver what it reads. A pipe retries as its source
// does. https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-pipes-batching-concurrency.html
import { type App, QUEUE } from "../app.ts";
import { type Reader, readersOf } from "../event-sources.ts";
import type { Hop, RedeliveryWindow } from "./hop.ts";
import { queueWindow } from "./queues.ts";
import { streamWindow } from "./streams.ts";

export function readerHops(app: App): Hop[] {
  return readersOf(app).flatMap((reader) => {
    const window = windowOf(app, reader);
    return reader.into.map((into): Hop => {
      return { from: reader.source, into, window, isAsynchronous: reader.forgotten.includes(into) };
    });
  });
}

function windowOf(app: App, reader: Reader): RedeliveryWindow {
  const { path, source, isPipe, settings } = reader;
  if (source?.cfnResourceType === QUEUE) return queueWindow(app, source);
  const { StartingPosition, Queues, Topics } = settings;
  if (Queues !== undefined) {
    return { unknown: `the broker that ${path} reads decides how long it keeps messages` };
  }
  // An imported source has only an ARN, and often not even that. Streams have a starting position, and Kafka has topics.
  if (!isPipe && (StartingPosition ?? Topics) === undefined) {
    return { unknown: `the queue that ${path} reads isn't defined in this app` };
  }
  return streamWindow(app, reader);
}
