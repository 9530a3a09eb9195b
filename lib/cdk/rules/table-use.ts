// Whether a function runs its operations on a table that it shouldn't use: its own event source, or one of another stage.
import { type App, ownerPath, type Report, type Resource } from "./app.ts";
import { readersInto } from "./event-sources.ts";

export function findTableUse(app: App, fn: Resource, resource: Resource, report: Report): void {
  const reader = readersInto(app, fn).find(
    ({ source, settings }) => source === resource && settings.FilterCriteria === undefined,
  );
  if (reader) {
    report(
      "warned",
      "own-stream",
      fn,
      `${ownerPath(fn)} reads the stream of ${ownerPath(resource)}, which also holds its records: each claim is a change in that stream and invokes it again, in an endless loop. Add a filter to the event source that excludes the records, or keep them in another table`,
    );
  }
  const { account, region, stage } = app.placeOf(fn);
  if (stage === app.placeOf(resource).stage || account === undefined || region === undefined) return;
  report(
    "warned",
    "other-stage",
    fn,
    `${ownerPath(fn)} uses ${ownerPath(resource)} by its name, a table of another stage: a call that one stage has handled doesn't run in the other, which returns the first one's result. Give each stage its own table, or acknowledge this if both are one environment`,
  );
}
