/** A record as lines for people, and as JSON. Its result is a payload, so that only the caller asks for it. */

import {
  ASKED,
  actsIn,
  bucketOf,
  decodeEvidence,
  destinationOf,
  type Evidence,
  type IdempotencyRecord,
  NOT_KEPT,
  type OutboxAct,
  type PastDecision,
  pastOf,
  type StoredResult,
  UNTRIED,
  type Unsent,
} from "onceonly/kit";
import type { Tone } from "./command.ts";
import type { TraceBranch } from "./tree.ts";

/** The results that callers got before a person corrected them, or had the key run again: payloads. */
export function pastResults(evidence: string | undefined): readonly string[] {
  return pastOf(evidence).flatMap(({ was }) => was ?? []);
}

/** What a record says, without payloads. Times are in epoch ms. */
export function describeRecord(recordKey: string, record: IdempotencyRecord, unsent: Unsent | undefined) {
  const { state, attempt, createdAt, leaseEndsAt, completedAt, expiresAt, steps = {}, result } = record;
  const evidence = verdictIn(record.evidence);
  const past = pastOf(record.evidence);
  const inBucket = bucketOf(result);
  return {
    recordKey,
    state,
    attempt,
    createdAt,
    ...(state === "in-progress" && { leaseEndsAt }),
    ...(completedAt !== undefined && { completedAt }),
    ...(expiresAt !== undefined && { expiresAt: expiresAt * 1000 }),
    ...(result && { result: placeOf(result) }),
    ...(inBucket && { inBucket }),
    steps: Object.entries(steps).map(([name, { state: of, attempt: by, at }]) => ({
      name,
      state: of,
      attempt: by,
      at,
    })),
    ...(evidence && { evidence }),
    ...(past.length > 0 && { past: past.map(({ was: _, ...decision }) => decision) }),
    messages: describeMessages(unsent),
    acts: actsIn(record.evidence),
  };
}

/** The messages of a commit, in their order, by their destinations and how far they have got. */
export function describeMessages({ messages, progress }: Partial<Unsent> = {}) {
  return (messages ?? []).map((message, place) => {
    const { state, tries, at, code } = progress?.[place] ?? UNTRIED;
    return { destination: destinationOf(message), state, tries, ...(at && { at }), ...(code && { code }) };
  });
}

/** Evidence may hold no verdict about the key, but acts on its messages alone. */
function verdictIn(text: string | undefined): Evidence | undefined {
  const { acts: _, past: __, ...evidence } = { ...decodeEvidence(text) } as Evidence & { acts?: unknown };
  return evidence.verdict === undefined ? undefined : evidence;
}

/** What was erased, or is not to be kept, leaves a word in the record. */
function placeOf(result: StoredResult): StoredResult["in"] | "bucket" {
  if (bucketOf(result)) return "bucket";
  return result.in === "record" && result.text === NOT_KEPT ? "nowhere" : result.in;
}

export type RecordReport = ReturnType<typeof describeRecord>;

/** A tree: the state first, then what led to it. */
export function recordLines(report: RecordReport, now: number): string[] {
  const { state, attempt, recordKey } = report;
  const lines = recordFacts(report, now);
  const last = lines.length - 1;
  return [
    recordKey,
    `${state}, attempt ${attempt}`,
    ...lines.map((line, place) => `${place === last ? "└" : "├"} ${line}`),
  ];
}

const TONES: Readonly<Record<string, Tone>> = {
  completed: "good",
  held: "bad",
  failed: "bad",
  abandoned: "bad",
  parked: "bad",
  unreadable: "bad",
};

/** The colour of a line about a record in this state. */
export const toneOf = (state: string): Tone | undefined => TONES[state];

function recordFacts(report: RecordReport, now: number): string[] {
  const { state, steps, evidence } = report;
  const lines = [`first claimed ${timeOf(report.createdAt, now)}`, ...leaseLines(report, now)];
  for (const step of steps) lines.push(stepLine(step, now));
  if (report.completedAt !== undefined) lines.push(`${state} ${timeOf(report.completedAt, now)}`);
  if (evidence) lines.push(...evidenceLines(evidence, now));
  for (const decision of (report.past ?? []).toReversed()) lines.push(pastLine(decision, now));
  for (const { line, below = [] } of outboxBranches(report, now))
    lines.push(line, ...below.map((each) => each.line));
  return [...lines, ...keptLines(report, now)];
}

export function leaseLines({ leaseEndsAt }: RecordReport, now: number): string[] {
  if (leaseEndsAt === undefined) return [];
  const isOver = leaseEndsAt < now;
  return [`lease ${isOver ? "ended" : "ends"} ${timeOf(leaseEndsAt, now)}${isOver ? ": abandoned" : ""}`];
}

export function stepLine({ name, state, attempt, at }: RecordReport["steps"][number], now: number): string {
  return `step ${name}: ${STEP_STATES[state]}, attempt ${attempt}, ${timeOf(at, now)}`;
}

/** The messages, each with its place in the commit, then what operators did with them. */
export function outboxBranches(
  { messages, acts }: Pick<RecordReport, "messages" | "acts">,
  now: number,
): TraceBranch[] {
  return [
    ...messages.map((message, place) => ({ line: messageLine(message, place, now) })),
    ...acts.map((act) => actBranch(act, now)),
  ];
}

function messageLine(message: RecordReport["messages"][number], place: number, now: number): string {
  const tried = message.at === undefined ? "" : `, ${timeOf(message.at, now)}`;
  const code = message.code === undefined ? "" : `, ${message.code}`;
  return `message ${place} to ${message.destination}: ${message.state}, ${message.tries} ${message.tries === 1 ? "try" : "tries"}${code}${tried}`;
}

const DECIDED = {
  "send-again": "sent again",
  redirect: "redirected",
  edit: "edited",
  drop: "dropped",
} as const;

function actBranch({ act, messages, count, by, why, at }: OutboxAct, now: number): TraceBranch {
  const which = `${messages.join(", ")}${count > messages.length ? `, and ${count - messages.length} more` : ""}`;
  const line = `message${count > 1 ? "s" : ""} ${which}: ${DECIDED[act]}, by ${by}, ${timeOf(at, now)}`;
  return { line, below: [{ line: `why: ${why}` }] };
}

export function keptLines(
  {
    result,
    inBucket,
    expiresAt,
    completedAt,
  }: Pick<RecordReport, "result" | "inBucket" | "expiresAt" | "completedAt">,
  now: number,
): string[] {
  const until = completedAt === undefined ? "it is settled" : "its messages are sent";
  return [
    ...(result === undefined
      ? []
      : [RESULTS[result] + (inBucket ? ` (${inBucket.bucket}), ${inBucket.bytes} bytes` : "")]),
    `kept until ${expiresAt === undefined ? until : timeOf(expiresAt, now)}`,
  ];
}

const STEP_STATES = {
  begun: "begun, outcome unknown",
  done: "done",
  undone: "did not happen",
} as const;

const RESULTS = {
  record: "the result is in the record",
  item: "the result is in a separate item",
  bucket: "the result is in S3",
  nowhere: "the result isn't kept",
} as const;

/** What an operator did with the key, by the question that the library stores with it. */
const ACTS: Readonly<Record<string, "erased" | "released" | "run again" | "forked">> = {
  [ASKED.erase]: "erased",
  [ASKED.fork]: "forked",
  [ASKED.release]: "released",
  [ASKED.rerun]: "run again",
};

export const actOf = ({ asked = "" }: Pick<Evidence, "asked">): (typeof ACTS)[string] | undefined =>
  Object.hasOwn(ACTS, asked) ? ACTS[asked] : undefined;

export function evidenceLines(
  { verdict, by, at, step, asked, answered, lastError, fork }: Evidence,
  now: number,
): string[] {
  const about = step === undefined ? "" : ` of step ${step}`;
  const act = actOf({ asked });
  const lines = [
    act === undefined
      ? `verdict${about}: ${verdict}, by ${by}, ${timeOf(at, now)}`
      : `${act} by ${by}: ${answered ?? "no reason given"}, ${timeOf(at, now)}`,
  ];
  if (act === undefined && asked !== undefined) lines.push(`question: ${asked}`);
  if (act === undefined && answered !== undefined)
    lines.push(`${asked === undefined ? "reason" : "answer"}: ${answered}`);
  if (fork?.to !== undefined) lines.push(`goes on as ${fork.to}`);
  if (fork?.of !== undefined) lines.push(`runs ${fork.of} again from step ${step}`);
  if (lastError) lines.push(`last error: ${lastError.name}, ${timeOf(lastError.at, now)}`);
  return lines;
}

/** A decision that another one has replaced. */
function pastLine(
  { state, verdict, by, at, asked, answered }: Omit<PastDecision, "was">,
  now: number,
): string {
  const act = actOf({ asked: `${asked}` }) ?? verdict;
  const reason = answered === undefined ? "" : `: ${answered}`;
  return `before that: ${act === undefined ? state : `${act}, ${state}`}, by ${by}, ${timeOf(at, now)}${reason}`;
}

/** Evidence is JSON that anyone with access to the table can write, so its times may be anything. */
export const isTime = (ms: unknown): ms is number =>
  typeof ms === "number" && !Number.isNaN(new Date(ms).getTime());

/** Such as `2026-01-02T03:04:05.678Z (5 min ago)`. */
export function timeOf(ms: number | undefined, now: number): string {
  if (!isTime(ms)) return "at an unknown time";
  return `${new Date(ms).toISOString()} (${distanceOf(ms - now)})`;
}

const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"],
] as const;

function distanceOf(ms: number): string {
  const distance = Math.abs(ms);
  const [size, unit] = UNITS.find(([each]) => distance >= 2 * each) ?? [1, "ms"];
  const text = `${Math.round(distance / size)} ${unit}`;
  return ms > 0 ? `in ${text}` : `${text} ago`;
}
