/** One record as the page shows it: its tree, its time axis, its child keys, and which decisions can be made about it. */
import {
  type Clock,
  decisionIn,
  deriveChildKey,
  forkableSteps,
  type IdempotencyRecord,
  isHttpToken,
  namesOf,
  whyNotForkable,
} from "onceonly/kit";
import type { OpenTable } from "../open-table.ts";
import { actOf, isTime, type RecordReport } from "../record-lines.ts";
import { traceOf } from "../trace.ts";
import { recordBranches } from "../trace-record.ts";
import type { KeyChoice, KeyLife, LifeMark, LiveState, OpenMessage } from "./look.ts";

/** `undefined` if there's no record. */
export async function lifeOf(
  table: OpenTable,
  recordKey: string,
  clock: Pick<Clock, "now">,
): Promise<KeyLife | undefined> {
  const record = await table.store.find(recordKey, { consistent: true });
  if (!record) return undefined;
  const now = clock.now();
  const traced = await traceOf(table, recordKey, record);
  const state = liveStateOf(record, now);
  const openSteps = traced.steps.flatMap(({ name, state: of }) => (of === "begun" ? name : []));
  const forkSteps = forkableSteps(record);
  const choices = choicesFor(record, state, openSteps.length > 0);
  const isForkable = whyNotForkable(record, now) === undefined;
  return {
    ...namesOf(recordKey),
    state,
    attempt: record.attempt,
    createdAt: record.createdAt,
    choices: isForkable ? [...choices, "fork"] : choices,
    openSteps,
    forkSteps,
    ...(state === "in-progress" && { leaseEndsAt: record.leaseEndsAt }),
    messages: openMessages(traced),
    isHttp: isHttpToken(record.token),
    childKeys: Object.fromEntries(
      traced.steps.map(({ name }) => [name, deriveChildKey({ recordKey }, name)]),
    ),
    marks: marksOf(traced, now),
    tree: recordBranches(traced, traced.status, now),
  };
}

/** A claim whose lease has ended is abandoned. A released key that must be brought to its end is unfinished. */
function liveStateOf({ state, leaseEndsAt, expiresAt }: IdempotencyRecord, now: number): LiveState {
  if (state === "in-progress" && leaseEndsAt < now) return "abandoned";
  return state === "released" && expiresAt === undefined ? "unfinished" : state;
}

/** A step that was begun needs its own decision first, unless the whole key is known to have happened. */
function choicesFor(
  record: IdempotencyRecord,
  state: LiveState,
  hasOpenSteps: boolean,
): readonly KeyChoice[] {
  if (state === "held" || state === "abandoned" || state === "unfinished")
    return hasOpenSteps ? ["happened"] : ["happened", "did-not-happen", "release"];
  // A step that was begun may be having its effect right now.
  if (state === "in-progress") return hasOpenSteps ? [] : ["interrupt"];
  // While its messages are unsent, a finished record doesn't expire.
  const isSettled = (state === "completed" || state === "failed") && record.expiresAt !== undefined;
  return [
    ...(decisionIn(record) ? ["correct" as const] : []),
    ...(isSettled ? ["rerun" as const, "erase" as const] : []),
  ];
}

/** Those that a person can still decide about. */
const openMessages = ({ messages }: RecordReport): readonly OpenMessage[] =>
  messages.flatMap(({ destination, state, code }, place) =>
    state === "waiting" || state === "parked" ? { place, destination, state, code } : [],
  );

/** What a record knows about times. When an attempt between the first and the last began isn't stored, unless it began a step. */
function marksOf(report: RecordReport, now: number): readonly LifeMark[] {
  const { createdAt, completedAt, state, steps, evidence, past = [] } = report;
  const marks = [
    ...attemptMarks(report, now),
    ...steps.map(({ name, state: of, at }) => ({
      lane: "step" as const,
      label: `step ${name}: ${of}`,
      from: at,
    })),
    ...[...past, ...(evidence ? [evidence] : [])].map(({ by, at, verdict, asked }) => ({
      ...{ lane: "decision" as const, label: `${actOf({ asked }) ?? verdict}, by ${by}`, from: at },
    })),
    ...(completedAt === undefined ? [] : [{ lane: "attempt" as const, label: state, from: completedAt }]),
    ...messageMarks(report, completedAt ?? createdAt, now),
  ];
  // What has no time isn't on the axis. The tree has it.
  return marks
    .filter((mark): mark is LifeMark => isTime(mark.from))
    .toSorted((one, other) => one.from - other.from);
}

function attemptMarks(report: RecordReport, now: number): readonly LifeMark[] {
  const { createdAt, completedAt, leaseEndsAt, attempt: last, state, steps, evidence } = report;
  // A decision is made under its own claim, which counts as an attempt.
  const isDecision = state !== "in-progress" && evidence?.attempt === last - 1;
  const marks: LifeMark[] = [];
  for (let attempt = 1; attempt <= last; attempt++) {
    const isLast = attempt === last && !isDecision;
    const times = steps.filter((step) => step.attempt === attempt).map(({ at }) => at);
    if (attempt === 1) times.push(createdAt);
    if (isLast && completedAt !== undefined) times.push(completedAt);
    if (times.length === 0) continue;
    const from = Math.min(...times);
    const to = Math.max(...times);
    marks.push({ lane: "attempt", label: `attempt ${attempt}`, from, to });
    if (isLast && leaseEndsAt !== undefined)
      marks.push({ lane: "lease", label: `lease of attempt ${attempt}`, from, to: leaseEndsAt });
  }
  if (leaseEndsAt !== undefined && !marks.some(({ lane }) => lane === "lease"))
    marks.push({
      lane: "lease",
      label: `lease of attempt ${last}`,
      from: Math.min(now, leaseEndsAt),
      to: leaseEndsAt,
    });
  return marks;
}

function messageMarks({ messages, acts }: RecordReport, from: number, now: number): readonly LifeMark[] {
  return [
    ...messages.map(({ destination, state, at }, place) => ({
      ...{ lane: "message" as const, label: `message ${place} to ${destination}: ${state}`, from },
      to: state === "sent" ? (at ?? from) : now,
    })),
    ...acts.map(({ act, messages: places, by, at }) => ({
      ...{ lane: "message" as const, label: `message ${places.join(", ")}: ${act}, by ${by}`, from: at },
    })),
  ];
}
