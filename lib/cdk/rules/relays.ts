// The rules about relays, sweepers and reconcilers.
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
    `${first?.path} and ${relays[own || 1]?.path} both read the stream of ${table.path} for a relay, so standard queues, topics and buses get each message twice: remove one, or acknowledge this if their filters share no record`,
  );
}

/** Reports a function that commits to a table of the app from which nothing sends. */
export function findNoRelay(fn: Resource, table: string, report: Report): void {
  report(
    "warned",
    "no-relay",
    fn,
    `${ownerPath(fn)} commits to ${table}, which has an outbox and no OutboxRelay in this app, so that nobody sends its messages: make one, or acknowledge this where the relay is elsewhere or no commit has messages`,
  );
}

/** @param so what follows from it */
export function findNoConcurrency(app: App, fn: Resource, so: string, report: Report): void {
  if (numberIn(app.propertiesOf(fn).ReservedConcurrentExecutions) !== 0) return;
  const text = `reservedConcurrentExecutions of ${ownerPath(fn)} is 0, ${so}: make it 1 or more, or leave it out`;
  report("warned", "no-concurrency", fn, text);
}

/** Reports several batches of one shard at a time. */
export function findParallelShards(app: App, fn: Resource, report: Report): void {
  for (const { path, settings } of readersInto(app, fn)) {
    const factor = numberIn(settings.ParallelizationFactor) ?? 1;
    if (!(factor > 1)) continue;
    report(
      "warned",
      "parallel-shard",
      fn,
      `parallelizationFactor of ${path} is ${factor}, so that commits of one group can overtake each other: make it 1, or acknowledge this where no order matters`,
    );
  }
}

const UNITS: Readonly<Record<string, number>> = { minute: 60, hour: 3600, day: 86_400 };

/** Two runs at the same time look for the same work: a timeout within the interval rules that out. */
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
  `timeout of ${path} is ${timeout} s and ${intervalName} is ${pause} s, so a run can begin while the one before it still works: make the timeout at most ${pause} s, or ${intervalName} at least ${Math.ceil(timeout / 60)} minutes`;

/** Below that `verify` has less than its usual 10 s. */
export const FULL_SHARE_SECONDS = 20;

export function findShortReconciler(app: App, fn: Resource, report: Report): void {
  const seconds = numberIn(app.propertiesOf(fn).Timeout) ?? 3;
  if (seconds < FULL_SHARE_SECONDS) {
    report("warned", "reconciler-timeout", fn, shortReconciler(ownerPath(fn), seconds));
  }
}

export const shortReconciler = (path: string, seconds: number) =>
  `the timeout of ${path} is ${seconds} s, so that verify has ${seconds / 2} s to answer, and not 10 s: make it ${FULL_SHARE_SECONDS} s or more`;

export const secondReconciler = (one: string, other: string, table: string) =>
  `${one} and ${other} both settle the unknown outcomes of ${table}. If they have the same operations, the second one only stands by. If not, each of them pays for all of the reads: give all operations to one, or acknowledge this`;

export const noDestinations = (path: string) =>
  `${path} has 0 destinations, so that no committed message can be sent: addDestination one`;
