/** An operator's decisions about one key, or about one of its steps, as the page sends them. */
import {
  type ByWhom,
  type Clock,
  forkRecord,
  hasCode,
  isHttpToken,
  namesOf,
  type Resolution,
  type ResolveAnswer,
  releaseRecord,
  rerunRecord,
  resolveRecord,
  visible,
} from "onceonly/kit";
import { aboutAnswer, jsonAnswer, responseAnswer } from "../answer.ts";
import { UsageError } from "../command.ts";
import { liveStep } from "../consequences.ts";
import { eraseOne } from "../erasing.ts";
import { aboutFork, nextStep, whyNotForked } from "../fork.ts";
import type { OpenTable } from "../open-table.ts";
import { timeOf } from "../record-lines.ts";
import { whyNotRerun } from "../rerun.ts";
import { actOnMessage } from "./commit-acts.ts";
import type { Act } from "./console-source.ts";
import type { KnownKey, KnownKeys } from "./known-keys.ts";
import type { ActAnswer } from "./look.ts";

/** `undefined` for an act on anything but a key. @throws UsageError */
export async function actOnKey(act: Act, known: KnownKeys, clock: Clock): Promise<ActAnswer | undefined> {
  if (act.key === undefined) return undefined;
  const found = known.get(`${act.key}`);
  if (!found) throw new UsageError("that record hasn't been looked up: find its key first");
  const decided = byWhomIn(act);
  if (act.message !== undefined) return actOnMessage(found, act, decided, clock);
  if (act.act === "erase") return erase(found, act, decided, clock);
  if (act.act === "release") return release(found, act, decided, clock);
  if (act.act === "rerun") return rerun(found, decided, clock);
  if (act.act === "fork") return fork(found, act, decided, clock);
  const step = act.step === undefined ? {} : { step: `${act.step}` };
  const correction = act.correct === "yes" ? { evenThoughAnswered: true } : {};
  const resolution = { ...resolutionIn(act, decided), ...step, ...correction };
  const answer = await resolving(found, resolution, clock);
  return { done: answer.resolved, message: answer.resolved ? doneMessage(resolution) : refusal(answer) };
}

/** @throws UsageError */
export function byWhomIn({ by, why }: Act): ByWhom {
  const said = { by: `${by ?? ""}`.trim(), why: `${why ?? ""}`.trim() };
  if (said.by === "" || said.why === "") throw new UsageError("enter your name and a reason");
  return said;
}

/** What a person types before something goes for good. @throws UsageError */
export function checkTyped({ typed }: Act, expected: string): void {
  // The page shows invisible characters as escapes.
  if (typed !== expected && typed !== visible(expected)) throw new UsageError(`type ${expected} to confirm`);
}

/** @throws UsageError for an act that it doesn't know, or an answer that isn't one */
export function resolutionIn({ act, answer, status, body }: Act, decided: ByWhom): Resolution {
  if (act === "did-not-happen") return { outcome: act, ...decided };
  if (act !== "happened") throw new UsageError(`the action "${act}" isn't available for a key`);
  const result =
    status === undefined
      ? jsonAnswer(`${answer ?? ""}`, "the answer")
      : responseAnswer(`${status}`, `${body ?? ""}`, "the status");
  return { outcome: act, result, ...decided };
}

/** @throws UsageError for an answer that the callers of the operation can't read, with an example */
export async function resolving(
  { table, recordKey }: KnownKey,
  resolution: Resolution,
  clock: Clock,
): Promise<ResolveAnswer> {
  const store: OpenTable["store"] = table.store;
  return resolveRecord({ store, clock }, recordKey, resolution).catch((error: unknown) => {
    const explained = aboutAnswer(
      error,
      'choose "HTTP response", with a status such as 201 and a body such as {"id":"ch_1"}',
    );
    throw hasCode(explained, "INVALID_OPTION") ? new UsageError((error as Error).message) : explained;
  });
}

function doneMessage({ outcome, step }: Resolution): string {
  const about = step === undefined ? "the effect" : `step ${step}`;
  if (outcome === "did-not-happen") return `Recorded that ${about} did not happen: the next call runs.`;
  return step === undefined
    ? "Recorded that the effect happened: every caller gets this answer from now on."
    : `Recorded that step ${step} happened: the next call continues after it.`;
}

function refusal({ state, decided }: Exclude<ResolveAnswer, { resolved: true }>): string {
  const by = decided ? `, decided by ${decided.by}` : "";
  return `Nothing was changed: the key is ${state}${by}.`;
}

async function erase(
  { table, recordKey }: KnownKey,
  act: Act,
  decided: ByWhom,
  clock: Clock,
): Promise<ActAnswer> {
  checkTyped(act, namesOf(recordKey).operation);
  const { done, message, next } = await eraseOne(table, recordKey, decided, { clock });
  if (!done) return { done, message: `Nothing was changed: ${message}.` };
  return { done, message: next === undefined ? "Erased." : `Erased. Next: ${next}.` };
}

async function release(
  { table, recordKey }: KnownKey,
  { interrupt }: Act,
  decided: ByWhom,
  clock: Clock,
): Promise<ActAnswer> {
  const interrupts = interrupt === "yes";
  const answer = await releaseRecord({ store: table.store, clock }, recordKey, { ...decided, interrupts });
  if (answer.released) return { done: true, message: "Released: the next call runs." };
  const { steps, leaseEndsAt } = answer;
  if (steps && leaseEndsAt !== undefined)
    return {
      done: false,
      message: `Nothing was changed: ${liveStep(steps, timeOf(leaseEndsAt, clock.now()))}.`,
    };
  const why = steps
    ? `the outcome of step ${steps.join(" and ")} is unknown: decide about it first`
    : `the key is ${answer.state}`;
  return { done: false, message: `Nothing was changed: ${why}.` };
}

async function rerun({ table, recordKey }: KnownKey, decided: ByWhom, clock: Clock): Promise<ActAnswer> {
  const answer = await rerunRecord({ store: table.store, clock }, recordKey, decided);
  return answer.rerun
    ? { done: true, message: "The next call runs the handler again." }
    : { done: false, message: `Nothing was changed: ${whyNotRerun(answer.state)}.` };
}

async function fork(
  { table, recordKey }: KnownKey,
  { from, as }: Act,
  decided: ByWhom,
  clock: Clock,
): Promise<ActAnswer> {
  const { store } = table;
  const seen = await store.find(recordKey, { consistent: true });
  const given = { ...decided, from: `${from ?? ""}`, as: `${as ?? ""}`.trim() };
  const answer = await forkRecord({ store, clock }, recordKey, given).catch((error: unknown) => {
    throw aboutFork(error);
  });
  if (!answer.forked) return { done: false, message: `Nothing was changed: ${whyNotForked(answer)}.` };
  const next = nextStep(namesOf(recordKey).operation, given.as, isHttpToken(seen?.token ?? ""));
  return { done: true, message: `Forked. Next: ${next}.` };
}
