// Finds what is wrong with one key: its calls, their answers, and the written data. Pure.
import type { Call, Subject } from "../subject.ts";
import { isAtRest, isFinal } from "../subject.ts";
import type { Rows } from "../tables.ts";
import { commits } from "../variants.ts";
import type { Kind, Violation } from "./violation.ts";

export interface Written extends Rows {
  /** Names under which another system was asked. */
  readonly outside: number;
}

type Finding = readonly [kind: Kind, detail: string];

export function judgeSubject(subject: Subject, written: Written): Violation[] {
  const findings: Finding[] = [
    ...judgeEffects(subject, written),
    ...judgeAnswers(subject),
    ...subject.calls.flatMap((call) => judgeCall(subject, call, written)),
    ...judgeFence(subject),
  ];
  if (subject.stuck !== undefined) findings.push(["stuck", subject.stuck]);
  return findings.map(([kind, detail]) => ({ kind, detail, subject }));
}

function judgeEffects({ variant, calls }: Subject, { runs, count, outside }: Written): Finding[] {
  const findings: Finding[] = [];
  if (runs.length > 1 || count > 1) {
    findings.push(["the effect is there twice", `runs ${runs.join(", ")}, counted ${count}`]);
  }
  if (outside > 1) findings.push(["another system was asked under two names", `${outside} names`]);
  for (const call of calls) {
    const { id, answer } = call;
    if (commits(variant) && answer?.says === "done" && !runs.includes(answer.run ?? Number.NaN)) {
      findings.push(["success without its effect", `call ${id} got the result of run ${answer.run}`]);
    }
    if (answer?.says === "refused" && isFinal(call) && runs.length > 0) {
      findings.push(["refused for good, though it is written", `call ${id}`]);
    }
  }
  return findings;
}

/** First, replayed, waiter's, late: all the same. */
function judgeAnswers({ calls }: Subject): Finding[] {
  const finals = calls.filter(isFinal);
  const others = finals.filter(({ answer }) => answer?.digest !== finals[0]?.answer?.digest);
  return others.map(({ id, answer }) => [
    "two answers differ",
    `call ${finals[0]?.id} got that of run ${finals[0]?.answer?.run}, call ${id} that of run ${answer?.run}`,
  ]);
}

function judgeCall(subject: Subject, call: Call, { runs }: Written): Finding[] {
  const { id, answer } = call;
  if (!answer) return [];
  const { says, run = Number.NaN, owner, detail } = answer;
  const findings: Finding[] = [];
  const isWritten = runs.includes(run);
  if (says === "other") findings.push(["an answer that should not be", `call ${id}: ${detail}`]);
  if (says === "exists" && owner === subject.key) findings.push(["a conflict with oneself", `call ${id}`]);
  if ((says === "not-written" || says === "sold-out" || says === "declined") && isWritten) {
    findings.push(["denied, though that very run is written", `call ${id} got ${says}`]);
  }
  if (says === "failed-after" && runs.length > 0 && !isWritten) {
    findings.push(["an error after a commit that was another one's", `call ${id}`]);
  }
  if (says === "mismatch" && (call.version === 2 || subject.version === 1)) {
    findings.push(["a mismatch without a changed payload", `call ${id}, payload ${call.version}`]);
  }
  if (says === "in-progress" && isAlone(subject, call)) {
    findings.push(["in progress, though no attempt runs", `call ${id}`]);
  }
  return [...findings, ...judgeTiming(subject, call, isWritten)];
}

/** Once a caller has got the final answer, none gets another, neither one that calls later nor one that ends later. */
function judgeTiming({ calls }: Subject, call: Call, isWritten: boolean): Finding[] {
  const { id, answer, decisions, startedAt, handlerEndedAt = 0 } = call;
  // The store informed the losers when they committed; all others can ask when their handler has ended.
  const askedAt = answer?.says === "lost" ? (call.commitStartedAt ?? handlerEndedAt) : handlerEndedAt;
  // Who cannot ask the store cannot know.
  if (!answer || isFinal(call) || answer.says === "outage" || decisions.includes("store-failed")) return [];
  // Its own effect exists, and the caller got its own error: as documented.
  if (answer.says === "failed-after" && isWritten) return [];
  const first = Math.min(...calls.filter(isFinal).map(({ endedAt }) => endedAt ?? Number.POSITIVE_INFINITY));
  if (startedAt > first) return [["another answer after the final one", `call ${id} got ${answer.says}`]];
  if (askedAt > first) {
    return [["a late attempt's own answer instead of the winner's", `call ${id} got ${answer.says}`]];
  }
  return [];
}

/** No other call was under way at the time, and none before has left anything. */
function isAlone({ calls }: Subject, call: Call): boolean {
  const others = calls.filter((other) => other !== call && other.startedAt <= (call.endedAt ?? 0));
  return (
    others.every(({ endedAt = Number.POSITIVE_INFINITY }) => endedAt < call.startedAt) && isAtRest(others)
  );
}

function judgeFence({ variant, calls }: Subject): Finding[] {
  if (variant.mode !== "claimed") return [];
  const runs = calls.filter(({ attempt }) => attempt !== undefined);
  return runs.flatMap((run): Finding[] => {
    const earlier = runs.find((other) => {
      const isEarlier = (other.handlerStartedAt ?? Number.POSITIVE_INFINITY) < run.startedAt;
      const [own, others] = [run.attempt ?? 0, other.attempt ?? 0];
      return other !== run && ((isEarlier && own <= others) || (own === others && other.id < run.id));
    });
    if (!earlier) return [];
    const detail = `run ${run.id} has attempt ${run.attempt}, run ${earlier.id} had ${earlier.attempt}`;
    return [["a fencing number that is not higher than an earlier run's", detail]];
  });
}
