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
