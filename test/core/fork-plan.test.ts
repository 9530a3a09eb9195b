// Which records can be forked: one answer for the command line, the console and the fork itself.
import { describe, expect, it } from "vitest";
import { forkableSteps, planFork, whyNotForkable } from "../../lib/core/fork-plan.ts";
import { type IdempotencyRecord, type StoredStep, versionOf } from "../../lib/core/record.ts";

const NOW = 1_700_000_000_000;
const done: StoredStep = { state: "done", attempt: 1, at: NOW };
const steps = { charge: done };
const record: IdempotencyRecord = {
  ...{ version: versionOf(steps), token: "t", state: "completed", attempt: 1, fingerprint: "1:f", steps },
  ...{ createdAt: NOW, leaseEndsAt: NOW - 1, expiresAt: NOW / 1000 + 60 },
};

describe("whyNotForkable", () => {
  it.each<[string, Partial<IdempotencyRecord>, string | undefined]>([
    ["finished, with steps", {}, undefined],
    ["failed, with steps", { state: "failed" }, undefined],
    ["abandoned", { state: "in-progress" }, undefined],
    ["in progress", { state: "in-progress", leaseEndsAt: NOW }, "in-progress"],
    ["with unsent messages", { expiresAt: undefined as never }, "waiting"],
    ["of a saga that has turned back", { steps: { "buy/charge": done, "buy//turned-back": done } }, "undone"],
    ["without steps", { steps: undefined as never }, "stepless"],
    ["with an open step", { state: "held", steps: { charge: { ...done, state: "begun" } } }, "unclear"],
  ])("R9: %s", (_, more, why) => {
    const seen = { ...record, ...more };
    const [first = "none"] = forkableSteps(seen);

    expect(whyNotForkable(seen, NOW)).toBe(why);
    const plan = () => planFork(seen, first);
    if (why === "stepless" || why === "unclear") expect(plan).toThrow();
    else expect(plan).not.toThrow();
  });
});

describe("planFork", () => {
  const stepOf = (state: StoredStep["state"], attempt: number, at: number, next?: string): StoredStep => ({
    state,
    attempt,
    at: NOW + at,
    ...(next && { next }),
  });
  const stopped = { "saga//stopped": stepOf("begun", 1, 0) };
  const saga = {
    ...stopped,
    mail: stepOf("done", 2, 0),
    ship: stepOf("done", 1, 7),
    charge: stepOf("undone", 1, 3),
    reserve: stepOf("done", 1, 1),
  };

  it("R9: lists the steps by attempt, then by time, without the marks of a saga that has stopped", () => {
    expect(forkableSteps({ steps: saga })).toEqual(["reserve", "charge", "ship", "mail"]);
  });

  it("R9: lists a step that a saga would take next last, and each step once", () => {
    const steps = { hold: stepOf("done", 1, 0, "reserve"), reserve: stepOf("done", 1, 1, "charge") };

    expect(forkableSteps({ steps })).toEqual(["hold", "reserve", "charge"]);
    expect(planFork({ steps }, "charge")).toEqual({
      copied: ["hold", "reserve"],
      again: ["charge"],
      started: ["charge"],
    });
  });

  it("R9: copies the done steps before the given one, and runs the others again", () => {
    expect(planFork({ steps: saga }, "ship")).toEqual({
      copied: ["reserve"],
      again: ["charge", "ship", "mail"],
      started: [],
    });
  });

  it.each<[string, IdempotencyRecord["steps"], RegExp]>([
    [
      "isn't recorded",
      { reserve: stepOf("done", 1, 1), ship: stepOf("done", 1, 2) },
      /`from` must be one of the recorded steps: reserve, ship/,
    ],
    [
      "can't be, as there are none",
      undefined,
      /`from` must be a recorded step, but this record has none: .* so use `rerun`/,
    ],
    [
      "is there, but others are open",
      { other: stepOf("done", 1, 1), a: stepOf("begun", 1, 2), b: stepOf("begun", 1, 3) },
      /`from` needs a settled record: the outcome of a, b is unknown/,
    ],
  ])("R9: refuses a step that %s", (_, steps, message) => {
    expect(() => planFork({ steps }, "other")).toThrow(message);
  });

  it("R9: doesn't count a saga's stop as an open step", () => {
    expect(whyNotForkable({ ...record, steps: { ...steps, ...stopped } }, NOW)).toBeUndefined();
    expect(whyNotForkable({ ...record, steps: stopped }, NOW)).toBe("stepless");
  });

  it("R9: asks for sent messages only of a record that is over", () => {
    const { expiresAt: _, ...unsent } = record;

    expect(whyNotForkable({ ...unsent, state: "failed" }, NOW)).toBe("waiting");
    expect(whyNotForkable({ ...unsent, state: "in-progress" }, NOW)).toBeUndefined();
  });
});
