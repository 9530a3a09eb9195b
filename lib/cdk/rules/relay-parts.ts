// Whether relay and sweeper still work after an app has overridden their parts. Checks the template. No I/O.
import {
  type App,
  objectIn,
  ownerPath,
  type Report,
  type Resource,
  type TemplateProperties,
  valueIn,
} from "./app.ts";
import { type Reader, readersInto, reportsFailures } from "./event-sources.ts";
import { numberIn } from "./windows/hop.ts";

interface Parts {
  /** Undefined if the app has none, which only happens with templates. The sweeper may be undefined too. */
  readonly relay: Resource | undefined;
  readonly sweeper: Resource | undefined;
  /** Its table, if the app defines it. */
  readonly table: Resource | undefined;
  /** The attribute of records with unsent messages. */
  readonly unsent: string;
}

/** Only warns, because an operator may pause a relay. */
export function findRelayParts(app: App, parts: Parts, report: Report): void {
  const { relay, sweeper } = parts;
  findIdle(app, parts, report);
  if (relay) findStream(app, relay, parts, report);
  else if (sweeper) {
    report(
      "warned",
      "relay-off",
      sweeper,
      `${ownerPath(sweeper)} sends messages a minute late and out of order, and no relay reads its table's stream: create an OutboxRelay`,
    );
  }
  // One function can be both.
  const at = sweeper ?? relay;
  if (!at || isScheduled(app, at)) return;
  const what = sweeper ? `no enabled rule invokes ${ownerPath(sweeper)}` : `${ownerPath(at)} has no sweeper`;
  report(
    "warned",
    "no-sweep",
    at,
    `${what}: messages that the stream lost or the relay gave up on are never sent, and nothing reports the backlog. ${sweeper ? "Enable its rule" : "Create one with a rule that invokes it every minute"}, or acknowledge this while it's paused`,
  );
}

function findIdle(app: App, { relay, sweeper }: Parts, report: Report): void {
  const idle = [relay, sweeper].flatMap((fn) =>
    fn && numberIn(app.propertiesOf(fn).ReservedConcurrentExecutions) === 0 ? fn : [],
  );
  const [first] = idle;
  if (!first) return;
  const lost =
    first === sweeper
      ? "messages that the stream lost are never sent"
      : idle.length > 1
        ? "no committed message is sent"
        : "only the sweeper sends committed messages, late and out of order";
  report(
    "warned",
    "no-concurrency",
    relay ?? first,
    `reservedConcurrentExecutions of ${idle.map(ownerPath).join(" and ")} is 0, so ${lost}: set it to at least 1, or leave it out`,
  );
}

function findStream(app: App, relay: Resource, { table, unsent }: Parts, report: Report): void {
  // A source that the app doesn't define may be its stream.
  const readers = readersInto(app, relay).filter(({ source }) => !source || !table || source === table);
  if (!readers.some(isOn)) {
    report(
      "warned",
      "relay-off",
      relay,
      `the event source mapping of ${ownerPath(relay)} is ${readers.length > 0 ? "disabled" : "gone"}, so only the sweeper sends messages, a minute late and out of order. Enable it, or acknowledge this while the relay is paused`,
    );
  }
  for (const reader of readers.filter(isOn)) {
    if (!getsAll(reader, unsent)) {
      report(
        "warned",
        "relay-filter",
        relay,
        `the filter of ${reader.path} excludes changes with unsent messages: commits arrive as INSERT and as MODIFY, with the attribute ${unsent}. Only the sweeper sends the excluded ones, late and out of order. Leave the filter as OutboxRelay sets it`,
      );
    }
    const { StartingPosition: start } = reader.settings;
    if (typeof start === "string" && start !== "TRIM_HORIZON") {
      report(
        "warned",
        "relay-start",
        relay,
        `${reader.path} starts at ${start}, so ${ownerPath(relay)} skips messages committed before it was created, and only the sweeper sends those. Set startingPosition to TRIM_HORIZON`,
      );
    }
    if (!reportsFailures(reader)) {
      report(
        "warned",
        "no-batch-failures",
        relay,
        `${reader.path} feeds ${ownerPath(relay)} without ReportBatchItemFailures: Lambda treats any response as success of the whole batch, and moves on without the unsent messages. Set reportBatchItemFailures`,
      );
    }
  }
}

/** A value that is only known at deployment may enable it. */
const isOn = ({ settings: { Enabled } }: Reader) => `${Enabled}` !== "false";

/** Whether one filter lets each change with unsent messages through. */
function getsAll({ settings }: Reader, unsent: string): boolean {
  const filters = valueIn(objectIn(settings.FilterCriteria), "Filters");
  if (!Array.isArray(filters)) return true;
  return filters.some((filter) => {
    const pattern = valueIn(objectIn(filter), "Pattern");
    if (typeof pattern !== "string") return true;
    try {
      return isOpen(JSON.parse(pattern), unsent);
    } catch {
      return false;
    }
  });
}

function isOpen(pattern: unknown, unsent: string): boolean {
  return Object.entries(objectIn(pattern)).every(([name, value]) => {
    if (name === "eventName") return ["INSERT", "MODIFY"].every((each) => [value].flat().includes(each));
    if (name === "eventSource") return [value].flat().includes("aws:dynamodb");
    return name === "dynamodb" && isOpenImage(objectIn(value), unsent);
  });
}

function isOpenImage({ NewImage, ...others }: TemplateProperties, unsent: string): boolean {
  if (Object.keys(others).length > 0) return false;
  const wanted = JSON.stringify({ N: [{ exists: true }] });
  return Object.entries(objectIn(NewImage)).every(
    ([name, value]) => name === unsent && JSON.stringify(value) === wanted,
  );
}

function isScheduled(app: App, sweeper: Resource): boolean {
  const isTarget = (part: unknown) => app.targetsIn(part).includes(sweeper);
  const isEnabled = ({ State }: TemplateProperties) => State !== "DISABLED";
  const all = (type: string) =>
    app
      .ofType(type)
      .map((each: Resource) => app.propertiesOf(each))
      .filter(isEnabled);
  return (
    all("AWS::Events::Rule").some(({ Targets }) => isTarget(Targets)) ||
    all("AWS::Scheduler::Schedule").some(({ Target }) => isTarget(Target))
  );
}
