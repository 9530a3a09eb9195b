// Rules for relays, sweepers and reconcilers.
import { type App, ownerPath, type Report, type Resource } from "./app.ts";
import { readersFrom, readersInto } from "./event-sources.ts";
import { numberIn } from "./windows/hop.ts";

/** Reports a relay whose table has a mapping to another relay, or two to this one. */
export function findSecondRelay(
  app: App,
  fn: Resource,
  table: { readonly resource: Resource; readonly path: string },
  isRelay: (fn: Resource) => boolean,
  report: Report,
): void {
  const relays = readersFrom(app, table.resource).filter(({ into }) => into.some(isRelay));
  const own = relays.findIndex(({ into }) => into.includes(fn));
  const [first, second] = relays;
  if (own <= 0 && !(own === 0 && second?.into.includes(fn))) return;
  report(
    "warned",
    "second-relay",
    fn,
    `${first?.path} and ${relays[own || 1]?.path} both read the stream of ${table.path} for a relay, so standard queues, topics and buses get each message twice: remove one, or acknowledge this if their filters don't overlap`,
  );
}

/** Reports a function that commits to a table of the app if nothing sends the table's messages. */
export function findNoRelay(fn: Resource, table: string, report: Report): void {
  report(
    "warned",
    "no-relay",
    fn,
    `${ownerPath(fn)} commits to ${table}, which has an outbox but no OutboxRelay in this app, so its messages are never sent: create one, or acknowledge this if the relay is elsewhere or no commit has messages`,
  );
}

/** @param so the consequence, for the report */
export function findNoConcurrency(app: App, fn: Resource, so: string, report: Report): void {
  if (numberIn(app.propertiesOf(fn).ReservedConcurrentExecutions) !== 0) return;
  const text = `reservedConcurrentExecutions of ${ownerPath(fn)} is 0, ${so}: set it to at least 1, or leave it out`;
  report("warned", "no-concurrency", fn, text);
}

/** Reports that several batches of one shard are processed in parallel. */
export function findParallelShards(app: App, fn: Resource, report: Report): void {
  for (const { path, settings } of readersInto(app, fn)) {
    const factor = numberIn(settings.ParallelizationFactor) ?? 1;
    if (!(factor > 1)) continue;
    report(
      "warned",
      "parallel-shard",
      fn,
      `parallelizationFactor of ${path} is ${factor}, so commits of one group can overtake each other: set it to 1, or acknowledge this if order doesn't matter`,
    );
  }
}

const UNITS: Readonly<Record<string, number>> = { minute: 60, hour: 3600, day: 86_400 };

/** Two overlapping runs look for the same work. A timeout below the interval prevents that. */
export function findOverlap(app: App, fn: Resource, intervalName: string, report: Report): void {
  const timeout = numberIn(app.propertiesOf(fn).Timeout) ?? 3;
  for (const rule of app.ofType("AWS::Events::Rule")) {
    const { ScheduleExpression, Targets } = app.propertiesOf(rule);
    const [, count, unit = ""] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(`${ScheduleExpression}`) ?? [];
    const pause = Number(count) * (UNITS[unit] ?? Number.NaN);
    if (!(timeout > pause) || !app.targetsIn(Targets).includes(fn)) continue;
    report("warned", "overlapping-runs", fn, overlapping(ownerPath(fn), timeout, intervalName, pause));
  }
}

export const overlapping = (path: string, timeout: number, intervalName: string, pause: number) =>
  `timeout of ${path} is ${timeout} s and ${intervalName} is ${pause} s, so a run can start while the previous one is still working: make the timeout at most ${pause} s, or ${intervalName} at least ${Math.ceil(timeout / 60)} minutes`;

/** With a shorter timeout, `verify` gets less than its usual 10 s, which is half of the time. */
export const FULL_SHARE_SECONDS = 20;

export function findShortReconciler(app: App, fn: Resource, report: Report): void {
  const seconds = numberIn(app.propertiesOf(fn).Timeout) ?? 3;
  if (seconds < FULL_SHARE_SECONDS) {
    report("warned", "reconciler-timeout", fn, shortReconciler(ownerPath(fn), seconds));
  }
}

export const shortReconciler = (path: string, seconds: number) =>
  `the timeout of ${path} is ${seconds} s, which leaves verify ${seconds / 2} s to answer instead of 10 s: make it ${FULL_SHARE_SECONDS} s or more`;

export const secondReconciler = (one: string, other: string, table: string) =>
  `${one} and ${other} both settle the unknown outcomes of ${table}. If they have the same operations, the second is only a standby. If not, each pays for all of the reads: give all operations to one, or acknowledge this`;

export const noDestinations = (path: string) =>
  `${path} has no destinations, so committed messages can't be sent: add one with addDestination`;
