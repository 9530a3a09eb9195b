// Whether the retries of an event source outlast the lease of an attempt that died. If they don't, they're used up while the
// key is in progress, and the event is dropped.
import { type App, ownerPath, QUEUE, type Resource, valueIn } from "./app.ts";
import { type Reader, readersInto } from "./event-sources.ts";
import { settingsOf } from "./queue-settings.ts";
import { asynchronousConfigs } from "./windows/asynchronous.ts";
import { numberIn } from "./windows/hop.ts";
import { isInvokedAsynchronously } from "./windows/hops.ts";
import { retriersOf } from "./windows/step-functions.ts";

/** `clockSkewSeconds` of handlers, by default. */
const CLOCK_SKEW_SECONDS = 5;

/**
 * The pauses before Lambda's first and second retry, in seconds.
 * https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
 */
const PAUSES = [60, 120];

/** Reports a warning about the function that is checked. */
export type Warn = (rule: string, text: string) => void;

/** A lease lasts for the invocation's remaining time plus the clock skew. */
export function findRetries(app: App, fn: Resource, timeout: number | undefined, warn: Warn): void {
  if (timeout === undefined) return;
  const lease = timeout + CLOCK_SKEW_SECONDS;
  const compare = (spent: number, what: string, fix: string) => {
    // A number that is only known at deployment is NaN here.
    if (!(spent < lease)) return;
    warn(
      "retries-within-lease",
      `${what} ${spent} s < ${lease} s, the lease of an attempt that died (timeout ${timeout} s of ${ownerPath(fn)} + clock skew ${CLOCK_SKEW_SECONDS} s): every retry finds the key in progress, and then the retries run out. ${fix}`,
    );
  };
  warnOfAsynchronousRetries(app, fn, compare);
  for (const { path, into, retries, pauseSeconds } of retriersOf(app)) {
    if (!(retries > 0) || !into.includes(fn)) continue;
    const fix = "Give the retrier a longer interval, or more attempts";
    compare(pauseSeconds, `${retries} retries of a task in ${path} pause for`, fix);
  }
  for (const reader of readersInto(app, fn)) {
    warnOfReaderRetries(app, reader, timeout, compare);
    warnOfFactor(numberIn(reader.settings.ParallelizationFactor), reader.path, fn, warn);
  }
}

/** Warns if the retries take less time than the lease. */
type Compare = (spent: number, what: string, fix: string) => void;

function warnOfReaderRetries(app: App, reader: Reader, timeout: number, compare: Compare): void {
  const { path, source, settings } = reader;
  const age = numberIn(settings.MaximumRecordAgeInSeconds) ?? -1;
  if (age >= 0) compare(age, `maximum record age of ${path}:`, "Give it a longer maxRecordAge");
  const retries = numberIn(settings.MaximumRetryAttempts) ?? -1;
  // A batch waits for a record in progress, except in the last fifth of its time, at most 2 s.
  const waited = retries * (timeout - Math.min(2, timeout / 5));
  if (retries >= 0) compare(waited, `${retries} retries of ${path} wait for`, "Give it more retryAttempts");
  if (source?.cfnResourceType !== QUEUE) return;
  const { hidden, redrive: { receives } = { receives: 0 } } = settingsOf(app, source);
  const what = `${receives} receives from ${ownerPath(source)} come within`;
  if (receives > 1)
    compare((receives - 1) * hidden, what, "Give it a longer visibilityTimeout or more receives");
}

/** An event isn't lost if a dead-letter queue or a destination keeps it. */
function warnOfAsynchronousRetries(app: App, fn: Resource, compare: Compare): void {
  if (!isInvokedAsynchronously(app, fn)) return;
  if (valueIn(app.propertiesOf(fn), "DeadLetterConfig") !== undefined) return;
  for (const config of asynchronousConfigs(app, fn)) {
    const retries = numberIn(valueIn(config, "MaximumRetryAttempts")) ?? PAUSES.length;
    const isKept = valueIn(config, "DestinationConfig", "OnFailure") !== undefined;
    // 0 retries are set on purpose.
    if (isKept || retries === 0) continue;
    const spent = PAUSES.slice(0, retries).reduce((sum, pause) => sum + pause, 0);
    const age = numberIn(valueIn(config, "MaximumEventAgeInSeconds")) ?? Number.POSITIVE_INFINITY;
    compare(
      Math.min(spent, age),
      `the retries of an asynchronous invocation of ${ownerPath(fn)} come within`,
      "Shorten the timeout, or give it an onFailure destination",
    );
  }
}

function warnOfFactor(factor: number | undefined, path: string, fn: Resource, warn: Warn): void {
  if (factor === undefined || Number.isNaN(factor) || factor <= 1) return;
  warn(
    "parallel-shard",
    `${path} feeds ${ownerPath(fn)} up to ${factor} batches of one shard at once: order holds within a partition key, but no longer within the shard. Leave parallelizationFactor at 1 if records depend on each other`,
  );
}
