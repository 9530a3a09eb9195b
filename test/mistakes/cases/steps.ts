import { MemoryStore } from "onceonly/testing";
import { type Execution, type RunOnceOptions, runOnce } from "../../../lib/index.ts";
import { type Mistake, messageOf } from "../given.ts";

let keys = 0;

const attempt = (work: (execution: Execution) => unknown, more: Partial<RunOnceOptions> = {}) =>
  messageOf(() => {
    const given = { operation: "order", store: new MemoryStore(), leaseSeconds: 30, renewLease: false };
    return runOnce({ ...given, ...more } as RunOnceOptions, `order-${keys++}`, {}, work);
  });

/** Parts of a handler that are recorded one by one. */
export const STEP_MISTAKES: readonly Mistake[] = [
  {
    made: "uses the same step name in each pass of a loop",
    reportedBy: "error",
    text: "step `mail` was used twice in one attempt: give each step its own name",
    make: () =>
      attempt(async ({ step }) => {
        for (const to of ["a", "b"]) await step("mail", () => to);
      }),
  },
  {
    made: "sets `didNotHappen` on a step that simply runs again",
    reportedBy: "error",
    text: "step `charge` has `didNotHappen` without `atMostOnce: true`: add it, because any other step simply runs again",
    make: () => attempt(({ step }) => step("charge", () => 1, { didNotHappen: () => true })),
  },
  {
    made: "runs steps in optimistic mode",
    reportedBy: "error",
    text: "step `charge` needs a claim: leave `mode` out",
    make: () => attempt(({ step }) => step("charge", () => 1), { mode: "optimistic" }),
  },
  {
    made: "starts a step after the handler has returned",
    reportedBy: "error",
    text: "this attempt has ended: await each step before the handler returns",
    make: () =>
      messageOf(async () => {
        const kept: Execution[] = [];
        await attempt(async (execution) => {
          kept.push(execution);
          throw new Error("returned");
        });
        return kept[0]?.step("mail", () => 1);
      }),
  },
  {
    made: "commits while a step is running",
    reportedBy: "error",
    text: "step `mail` is still running: await it before the commit",
    make: () =>
      attempt(async ({ step, commit }) => {
        void step("mail", () => 1);
        await commit("done");
      }),
  },
  {
    made: "sends messages from a step",
    reportedBy: "error",
    text: "commit of a step expects the result first, then { writes }: send messages with the commit of the execution",
    make: () =>
      attempt(({ step }) =>
        // @ts-expect-error: the type knows no messages
        step("order", ({ commit }) => commit(1, { writes: [], messages: [] })),
      ),
  },
  {
    made: "runs a step that `steps` doesn't list",
    reportedBy: "error",
    text: "step `mail` isn't in the option `steps` (it lists: charge): add it there",
    make: () => attempt(({ step }) => step("mail", () => 1), { steps: ["charge"] }),
  },
  {
    made: "returns a date from a step",
    reportedBy: "error",
    text: "can't store the result: $ is",
    make: () => attempt(({ step }) => step("load", () => new Date(0))),
  },
];
