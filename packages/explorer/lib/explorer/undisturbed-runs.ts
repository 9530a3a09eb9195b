/**
 * Runs a handler undisturbed, at several times and with several seeds: values that differ are not compared. A
 * handler that lacks something, or behaves differently each time, is refused because nothing could be
 * compared.
 */
import { neededOption } from "./needed-option.ts";
import { placeWithoutIds } from "./outside.ts";
import { type Play, play } from "./play.ts";
import { reportName, type Scenario } from "./scenario.ts";
import { traceLines } from "./trace-lines.ts";
import { madeEffects } from "./undisturbed-words.ts";
import { placeOf } from "./volatile-values.ts";

/** Half a second before the year ends, so redeliveries fall into another minute, hour, day, month and year. */
export const START = Date.UTC(2026, 0, 1) - 500;
/** The two undisturbed runs differ in everything that depends on the time. */
const OTHER_START = START + 98_765_432;

export interface UndisturbedRuns {
  readonly one: Play;
  readonly other: Play;
  /** Requests of the very first run only: the handler's module remembers their answers. */
  readonly firstOnly: readonly string[];
}

/** @throws Error when the handler fails, refuses its event, does nothing, or does different things each time */
export async function undisturbedRuns(scenario: Scenario): Promise<UndisturbedRuns> {
  const { seed } = scenario.options;
  const first = await playToSuccess(scenario, seed, START, (run) => refusalOf(run, scenario.options));
  const other = await playToSuccess(scenario, seed + 1, OTHER_START);
  checkSame(scenario, first, other);
  const firstOnly = requestsMissing(first, other);
  if (firstOnly.length === 0) return { one: first, other, firstOnly };
  return { one: await playToSuccess(scenario, seed, START), other, firstOnly };
}

async function playToSuccess(
  scenario: Scenario,
  seed: number,
  startAt: number,
  refuses: (run: Play) => RefusedRun | undefined = () => undefined,
): Promise<Play> {
  const run = await play(scenario, { seed, startAt });
  const refusal = failureOf(run, scenario.options) ?? refuses(run);
  if (refusal === undefined) return run;
  const { what, hint } = refusal;
  const name = reportName(scenario, run.ios);
  throw new Error(
    `${name} ${what}\n${traceLines(run, scenario.name, name)}\n${hint}; set showsOutput: true to see its output`,
  );
}

interface RefusedRun {
  readonly what: string;
  readonly hint: string;
}

const UNSEEN =
  "the simulator saw no request: if the handler makes any, they go through another copy of the AWS SDK, a mock, or a client that isn't simulated";

function failureOf({ last, ios, trace }: Play, options: Scenario["options"]): RefusedRun | undefined {
  if (last?.isSuccess === true) return undefined;
  const words = [last?.words ?? "it wasn't invoked", ...(last?.detail ? [last.detail] : [])].join(": ");
  const hint = ios.length === 0 ? UNSEEN : neededOption(trace, options);
  return { what: `fails without any disturbance: ${words}`, hint };
}

/** A success that shows nothing: the handler refused its event, or did no work at all. */
function refusalOf(run: Play, options: Scenario["options"]): RefusedRun | undefined {
  const { last, ios, answers } = run;
  const { status, detail } = last ?? {};
  const { expectedStatus, expectsNoRequest } = options;
  if (answers.some(({ isUnread }) => isUnread)) {
    const what = "reports failed records without any disturbance, but its source doesn't read them";
    return { what, hint: "fix the handler first, or set reportsItemFailures: true if its source reads them" };
  }
  if (expectedStatus !== undefined && status !== expectedStatus) {
    const what = `responds with ${status ?? "no status"} without any disturbance, instead of the expected ${expectedStatus}`;
    return { what: detail ? `${what}: ${detail}` : what, hint: "fix the event, or expectedStatus" };
  }
  if (status !== undefined && status >= 400 && expectedStatus === undefined) {
    return {
      what: `responds with ${status} without any disturbance, so its work wouldn't be explored: ${detail}`,
      hint: `use an event with the path, headers, caller and body that the handler accepts; or, to explore this response, set expectedStatus: ${status}`,
    };
  }
  const isExpected = expectsNoRequest || (expectedStatus ?? 0) >= 400;
  if (isExpected || ios.length > 0 || madeEffects(run).length > 0) return undefined;
  return {
    what: `makes no request without any disturbance, so there is nothing to explore: ${last?.words}`,
    hint: `${UNSEEN}; if it makes none, set expectsNoRequest: true`,
  };
}

function checkSame(scenario: Scenario, first: Play, second: Play): void {
  const [ours, theirs] = [first, second].map(({ effects }) => countsOf(effects.map(placeOf)));
  for (const place of new Set([...(ours?.keys() ?? []), ...(theirs?.keys() ?? [])])) {
    const [once, then] = [ours?.get(place) ?? 0, theirs?.get(place) ?? 0];
    if (once === then) continue;
    throw new Error(
      `${reportName(scenario, first.ios)} does different things in two undisturbed runs: ${once} of ${place}, then ${then}; if its module remembers the first run, make a new handler for each environment (perEnvironment: true)`,
    );
  }
}

function requestsMissing(first: Play, second: Play): string[] {
  const [ours, theirs] = [first, second].map(({ ios }) =>
    countsOf(
      ios.map(({ service, operation, target }) => `${service} ${operation} ${placeWithoutIds(target)}`),
    ),
  );
  return [...(ours ?? [])].flatMap(([label, count]) => ((theirs?.get(label) ?? 0) < count ? [label] : []));
}

function countsOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
