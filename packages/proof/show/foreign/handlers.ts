// All foreign handlers, by their sources.
import { EVENT_HANDLERS } from "./event-handlers.ts";
import type { ForeignHandler } from "./foreign-handler.ts";
import { HTTP_HANDLERS } from "./http-handlers.ts";
import { QUEUE_HANDLERS } from "./queue-handlers.ts";

export const GROUPS: readonly (readonly [title: string, handlers: readonly ForeignHandler[]])[] = [
  ["Behind an API", HTTP_HANDLERS],
  ["Queues, streams and topics", QUEUE_HANDLERS],
  ["Events, tasks and durable functions", EVENT_HANDLERS],
];

export const HANDLERS: readonly ForeignHandler[] = GROUPS.flatMap(([, handlers]) => handlers);
