// Rules for durable functions: who calls them and how, and how long Lambda remembers an execution.
import { type App, objectIn, ownerPath, type Report, type Resource } from "./app.ts";
import { readersInto } from "./event-sources.ts";
import { asynchronousConfigs } from "./windows/asynchronous.ts";
import { numberIn } from "./windows/hop.ts";

/** https://docs.aws.amazon.com/lambda/latest/dg/durable-invoking-esm.html */
const MAX_MAPPED_SECONDS = 900;
const MAX_MAPPED_SECONDS_ON_MANAGED_INSTANCES = 5400;

/** https://docs.aws.amazon.com/lambda/latest/api/API_DurableConfig.html */
const DEFAULT_REMEMBERED_DAYS = 14;

/** How long `idempotentBatch` and `onceStep` keep their records, unless their options say otherwise. */
export const MESSAGE_RETENTION_SECONDS = 3_024_000;

/** `NaN` for a number that is only known at deployment. */
interface DurableConfig {
  /** How long an execution may last. */
  readonly executionSeconds: number;
  /** How long Lambda remembers the name and the result of an execution after its end. */
  readonly rememberedSeconds: number;
}

/** `undefined` for a function that isn't durable. */
export function durableConfigOf(app: App, fn: Resource): DurableConfig | undefined {
  const { DurableConfig } = app.propertiesOf(fn);
  if (DurableConfig === undefined) return undefined;
  const { ExecutionTimeout, RetentionPeriodInDays } = objectIn(DurableConfig);
  const days = numberIn(RetentionPeriodInDays) ?? DEFAULT_REMEMBERED_DAYS;
  return {
    executionSeconds: numberIn(ExecutionTimeout) ?? Number.NaN,
    rememberedSeconds: days * 86_400,
  };
}

/** @param retention of the records of its operations, in seconds; undefined if it's only known at deployment */
export function findDurable(app: App, fn: Resource, retention: number | undefined, report: Report): void {
  const durable = durableConfigOf(app, fn);
  if (!durable) return;
  const path = ownerPath(fn);
  findMapped(app, fn, durable, report);
  findUnqualified(app, fn, report);
  findDestinations(app, fn, report);
  const remembered = Math.max(retention ?? Number.NaN, MESSAGE_RETENTION_SECONDS);
  if (remembered < durable.executionSeconds) {
    report(
      "warned",
      "durable-retention",
      fn,
      `retention ${remembered} s < execution timeout ${durable.executionSeconds} s of ${path}: if an execution fails late, the records of its first steps may be gone, and the next execution for that key repeats them. Raise the retention, and pass it as retentionSeconds to each onceStep`,
    );
  }
}

/** A mapping or a pipe waits for the whole execution. */
function findMapped(app: App, fn: Resource, { executionSeconds }: DurableConfig, report: Report): void {
  const isManaged = app.propertiesOf(fn).CapacityProviderConfig !== undefined;
  const most = isManaged ? MAX_MAPPED_SECONDS_ON_MANAGED_INSTANCES : MAX_MAPPED_SECONDS;
  for (const reader of readersInto(app, fn)) {
    const dispatcher = `Let it feed an ordinary function with startOnce and UseStartOnce instead`;
    if (executionSeconds > most && !reader.isPipe) {
      report(
        "refused",
        "durable-event-source",
        fn,
        `execution timeout ${executionSeconds} s of ${ownerPath(fn)} > ${most} s, how long the event source mapping ${reader.path} waits for an execution: Lambda refuses the mapping. ${dispatcher}, or shorten the timeout`,
      );
    } else {
      report(
        "warned",
        "durable-event-source",
        fn,
        `${reader.path} starts an execution of ${ownerPath(fn)} for each delivery, so a redelivered event starts another one. ${dispatcher}`,
      );
    }
  }
}

/** https://docs.aws.amazon.com/lambda/latest/dg/durable-invoking.html */
function findUnqualified(app: App, fn: Resource, report: Report): void {
  const callers = [
    ...app.ofType("AWS::Lambda::EventSourceMapping"),
    ...app
      .ofType("AWS::Lambda::Permission")
      .filter((each) => /\.amazonaws\.com$/.test(`${app.propertiesOf(each).Principal}`)),
  ];
  for (const caller of callers) {
    const { FunctionName } = app.propertiesOf(caller);
    if (!app.namedIn(FunctionName, "lambda", caller).includes(fn) || app.isQualified(FunctionName)) continue;
    report(
      "refused",
      "durable-qualifier",
      fn,
      `${ownerPath(caller)} invokes ${ownerPath(fn)} without a version or an alias, which Lambda refuses for a durable function: use an alias, such as addAlias("live")`,
    );
  }
}

/** https://docs.aws.amazon.com/lambda/latest/dg/durable-invoking.html */
function findDestinations(app: App, fn: Resource, report: Report): void {
  const isSet = asynchronousConfigs(app, fn).some(
    ({ DestinationConfig }) => Object.keys(objectIn(DestinationConfig)).length > 0,
  );
  if (!isSet) return;
  report(
    "warned",
    "durable-destination",
    fn,
    `${ownerPath(fn)} has a destination for asynchronous invocations, which Lambda doesn't support for durable functions, so nothing arrives there: use a dead-letter queue, or send a message in the last step`,
  );
}
