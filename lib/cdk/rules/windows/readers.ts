// For how long an event source mapping of Lambda, or a pipe of EventBridge, brings what it reads again. A pipe retries as its
// source does. https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-pipes-batching-concurrency.html
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
  const { StartingPosition, Queues } = settings;
  if (Queues !== undefined) {
    return { unknown: `the broker that ${path} reads keeps messages on its own terms` };
  }
  // An imported source has nothing but an ARN, and often not even that. Streams and Kafka are read from a position.
  if (!isPipe && StartingPosition === undefined) {
    return { unknown: `the queue that ${path} reads is not made in this app` };
  }
  return streamWindow(app, reader);
}
