// Whether the retries of an event source outlast the lease of an attempt that died. Without it they are used up while
// the key is in progress, and the event is given up.
import { type App, ownerPath, QUEUE, type Resource, valueIn } from "./app.ts";
import { readersInto } from "./event-sources.ts";
import { settingsOf } from "./queue-settings.ts";
import { asynchronousConfigs } from "./windows/asynchronous.ts";
import { numberIn } from "./windows/hop.ts";
import { isInvokedAsynchronously } from "./windows/hops.ts";
import { retriersOf } from "./windows/step-functions.ts";

/** `clockSkewSeconds` of handlers, by default. */
const CLOCK_SKEW_SECONDS = 5;

/** Before its first and before its second retry. https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html */
const PAUSES = [60, 120];

/** Reports a warning about the function that it looks at. */
export type Warn = (rule: string, text: string) => void;

/** A lease ends with the time that the invocation had, and the clock skew. */
export function findRetries(app: App, fn: Resource, timeout: number | undefined, warn: Warn): void {
  if (timeout === undefined) return;
  const lease = timeout + CLOCK_SKEW_SECONDS;
  const tell = (spent: number, what: string, mend: string) => {
    // A number that is known at deployment only is NaN here.
    if (!(spent < lease)) return;
    warn(
      "retries-within-lease",
      `${what} ${spent} s < ${lease} s, the lease of an attempt that died (timeout ${timeout} s of ${ownerPath(fn)} + clock skew ${CLOCK_SKEW_SECONDS} s): all retries find the key in progress, and the event is given up. ${mend}`,
    );
  };
  warnOfAsynchronousRetries(app, fn, tell);
  for (const { path, into, retries, pauseSeconds } of retriersOf(app)) {
    if (!(retries > 0) || !into.includes(fn)) continue;
    const mend = "Give the retrier a longer interval, or more attempts";
    tell(pauseSeconds, `${retries} retries of a task in ${path} pause for`, mend);
  }
  for (const { path, source, settings } of readersInto(app, fn)) {
    const age = numberIn(settings.MaximumRecordAgeInSeconds) ?? -1;
    if (age >= 0) tell(age, `maximum record age of ${path}:`, "Give it a longer maxRecordAge");
    const retries = numberIn(settings.MaximumRetryAttempts) ?? -1;
    // A batch waits for a record in progress, but for the last fifth of its time, or 2 s.
    const waited = retries * (timeout - Math.min(2, timeout / 5));
    if (retries >= 0) tell(waited, `${retries} retries of ${path} wait for`, "Give it more retryAttempts");
    warnOfFactor(numberIn(settings.ParallelizationFactor), path, fn, warn);
    if (source?.cfnResourceType !== QUEUE) continue;
    const { hidden, redrive: { receives } = { receives: 0 } } = settingsOf(app, source);
    const what = `${receives} receives from ${ownerPath(source)} come within`;
    const mend = "Give it a longer visibilityTimeout or more receives";
    if (receives > 1) tell((receives - 1) * hidden, what, mend);
  }
}

type Tell = (spent: number, what: string, mend: string) => void;

/** An event that a dead-letter queue or a destination keeps is not lost. */
function warnOfAsynchronousRetries(app: App, fn: Resource, tell: Tell): void {
  if (!isInvokedAsynchronously(app, fn)) return;
  if (valueIn(app.propertiesOf(fn), "DeadLetterConfig") !== undefined) return;
  for (const config of asynchronousConfigs(app, fn)) {
    const retries = numberIn(valueIn(config, "MaximumRetryAttempts")) ?? PAUSES.length;
    const isKept = valueIn(config, "DestinationConfig", "OnFailure") !== undefined;
    // Who sets no retry wants none.
    if (isKept || retries === 0) continue;
    const spent = PAUSES.slice(0, retries).reduce((sum, pause) => sum + pause, 0);
    const age = numberIn(valueIn(config, "MaximumEventAgeInSeconds")) ?? Number.POSITIVE_INFINITY;
    tell(
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
    `${path} feeds ${ownerPath(fn)} by up to ${factor} batches of one shard at once: order holds within one partition key, and no longer within the shard. Leave parallelizationFactor at 1 where one record depends on another`,
  );
}
