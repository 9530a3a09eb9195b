// The campaign's judge sees each kind of wrong answer, and reports no right one.
import { describe, expect, it } from "vitest";
import type { Answer } from "../../../../show/campaign/asking.ts";
import { CALM } from "../../../../show/campaign/asking.ts";
import { judgeSubject, type Written } from "../../../../show/campaign/judge/judge-subject.ts";
import { type Call, createSubject, type Subject } from "../../../../show/campaign/subject.ts";
import { variantOf } from "../../../../show/campaign/variants.ts";

const NOTHING: Written = { runs: [], count: 0, senders: [], outside: 0 };
const written = (...runs: number[]): Written => ({ ...NOTHING, runs, count: runs.length });

function call(id: number, answer: Answer | undefined, more: Partial<Call> = {}): Call {
  return {
    id,
    host: 1,
    version: 1,
    mood: CALM,
    startedAt: id * 1000,
    endedAt: id * 1000 + 500,
    decisions: [],
    ...(answer && { answer }),
    ...more,
  };
}

function judged(
  calls: readonly Call[],
  effects: Written,
  more: Partial<Subject> = {},
  name = "claimed-order",
) {
  const subject = createSubject({ key: "k", variant: variantOf(name), name: "n", mends: false });
  subject.calls.push(...calls);
  return judgeSubject({ ...subject, ...more }, effects).map(({ kind }) => kind);
}

const done = (run: number): Answer => ({ says: "done", run, digest: `of ${run}` });

describe("judgeSubject", () => {
  it("accepts a first answer, its replay, and a wait for a live claim", () => {
    const calls = [call(1, done(1)), call(2, { says: "in-progress" }, { startedAt: 1100 }), call(3, done(1))];

    expect(judged(calls, written(1))).toEqual([]);
  });

  it.each<[string, readonly Call[], Written]>([
    ["the effect is there twice", [call(1, done(1))], written(1, 2)],
    ["the effect is there twice", [call(1, done(1))], { ...written(1), count: 2 }],
    ["another system was asked under two names", [], { ...NOTHING, outside: 2 }],
    ["success without its effect", [call(1, done(1))], NOTHING],
    [
      "refused for good, though it is written",
      [call(1, { says: "refused", run: 1, digest: "r" })],
      written(9),
    ],
    ["a conflict with oneself", [call(1, { says: "exists", owner: "k", run: 1 })], written(9)],
    ["denied, though that very run is written", [call(1, { says: "not-written", run: 1 })], written(1)],
    [
      "an error after a commit that was another one's",
      [call(2, { says: "failed-after", run: 2 })],
      written(1),
    ],
    ["a mismatch without a changed payload", [call(1, { says: "mismatch" })], NOTHING],
    ["in progress, though no attempt runs", [call(1, { says: "in-progress" })], NOTHING],
    ["an answer that should not be", [call(1, { says: "other", detail: "RECORD_CORRUPT" })], NOTHING],
  ])("sees: %s", (kind, calls, effects) => {
    expect(judged(calls, effects)).toEqual([kind]);
  });

  it("sees two answers that differ", () => {
    expect(judged([call(1, done(1)), call(2, { ...done(1), digest: "other" })], written(1))).toEqual([
      "two answers differ",
    ]);
  });

  it("sees another answer after the final one, unless the store could not be asked", () => {
    const failed: Answer = { says: "failed", run: 2 };

    expect(judged([call(1, done(1)), call(2, failed)], written(1))).toEqual([
      "another answer after the final one",
    ]);
    expect(judged([call(1, done(1)), call(2, failed, { decisions: ["store-failed"] })], written(1))).toEqual(
      [],
    );
  });

  it("sees the own answer of an attempt that ended after the final one", () => {
    const late = call(
      2,
      { says: "failed", run: 2 },
      { startedAt: 1000, handlerEndedAt: 3000, endedAt: 3100 },
    );

    expect(judged([call(1, done(1)), late], written(1))).toEqual([
      "a late attempt's own answer instead of the winner's",
    ]);
  });

  it("accepts the error of a handler after its own commit", () => {
    expect(judged([call(1, { says: "failed-after", run: 1 }), call(2, done(1))], written(1))).toEqual([]);
  });

  it("sees a fencing number that is given out again", () => {
    const run = (id: number, attempt: number) => call(id, done(1), { attempt, handlerStartedAt: id * 1000 });

    expect(judged([run(1, 3), run(2, 1)], written(1))).toEqual([
      "a fencing number that is not higher than an earlier run's",
    ]);
    expect(judged([run(1, 1), run(2, 2)], written(1))).toEqual([]);
  });

  it("sees a corrected payload that is refused, and a key that stays stuck", () => {
    const first = call(1, { says: "failed", run: 1 }, { handlerStartedAt: 1, decisions: ["released"] });
    const mended = call(2, { says: "mismatch" }, { version: 2 });

    expect(judged([first, mended], NOTHING, { version: 2, stuck: "mismatch" })).toEqual([
      "a mismatch without a changed payload",
      "stuck",
    ]);
  });

  it("accepts a claim that a killed process leaves", () => {
    const calls = [call(1, undefined, { handlerStartedAt: 1000 }), call(2, { says: "in-progress" })];

    expect(judged(calls, NOTHING)).toEqual([]);
  });
});
