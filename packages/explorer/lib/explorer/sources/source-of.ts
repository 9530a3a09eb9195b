/** Recognizes the source of an event by its shape. Pure. */
import { EVENT_SOURCES, InvalidOptionError } from "onceonly/kit";
import type { Source, SourceKind } from "../source.ts";
import { durableService } from "./durable.ts";
import { httpClient } from "./http-client.ts";
import { invoker } from "./invoker.ts";
import { queueSource } from "./queue.ts";
import { recordsIn } from "./records-in.ts";
import { schedule } from "./schedule.ts";
import { streamSource } from "./stream.ts";

/**
 * Makes the source of one run.
 * @throws InvalidOptionError (`INVALID_OPTION`) for an event that no source can send
 */
export function sourceOf(kind: SourceKind, event: unknown): Source {
  if ((kind === "sqs" || kind === "stream") && !recordsIn(event)[0]) {
    throw new InvalidOptionError("event", `must have Records, because its source is ${kind}`, event);
  }
  if (kind === "http" && Object(event) !== event) {
    throw new InvalidOptionError("event", "must be an object, because its source is http", event);
  }
  switch (kind) {
    case "http":
      return httpClient;
    case "sqs":
      return queueSource();
    case "stream":
      return streamSource;
    case "invoke":
      return invoker;
    case "schedule":
      return schedule;
    case "durable":
      return durableService;
  }
}

export function sourceKindOf(event: unknown): SourceKind {
  const { httpMethod, requestContext } = Object(event) as Readonly<Record<string, unknown>>;
  const first: unknown = Object(recordsIn(event)[0]).eventSource;
  const source = Object.values(EVENT_SOURCES).find(({ eventSources }) => eventSources.includes(`${first}`));
  // A pipe retries the array of any other source as a whole.
  const isWhole = Array.isArray(event) && source?.pipe === undefined;
  if (source && !isWhole) return source.redelivers === "messages" ? "sqs" : "stream";
  return typeof httpMethod === "string" || Object(requestContext).http !== undefined ? "http" : "invoke";
}
