// Services between the callers of a function and its handler, which may remove or change the key, or respond themselves.
import { type App, QUEUE, type Report, type Resource } from "./app.ts";
import { findCors } from "./cors.ts";
import { findDistributions } from "./distributions.ts";
import { findInputs } from "./event-inputs.ts";
import { readersInto } from "./event-sources.ts";
import { findMappings, findMessages } from "./request-mappings.ts";

/** Only warnings and notes, because a handler may read its key from elsewhere. */
export function findCallers(app: App, fn: Resource, report: Report): void {
  const queues = readersInto(app, fn).flatMap(({ source }) =>
    source?.cfnResourceType === QUEUE ? source : [],
  );
  findCors(app, fn, report);
  findMappings(app, fn, report);
  findDistributions(app, fn, report);
  for (const queue of queues) findMessages(app, queue, fn, report);
  findInputs(app, fn, queues, report);
}
