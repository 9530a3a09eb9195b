import { fakeClock, MemoryStore } from "onceonly/testing";
import { participant, runOnce, saga } from "../../../lib/index.ts";
import { type Mistake, messageOf } from "../given.ts";

const run = () => 1;

/** Ordered steps with compensations. */
export const SAGA_MISTAKES: readonly Mistake[] = [
  {
    made: "gives two steps of a saga the same name",
    reportedBy: "error",
    text: "`name` must be unique, but two steps have the name charge",
    make: () =>
      messageOf(() =>
        saga("place", [
          { name: "charge", run },
          { name: "charge", run },
        ]),
      ),
  },
  {
    made: "compensates a step after the pivot",
    reportedBy: "error",
    text: "`compensate` isn't possible after the pivot, because nothing is undone from there on: remove it from the step mail",
    make: () =>
      messageOf(() =>
        saga("place", [
          { name: "charge", run, pivot: true },
          { name: "mail", run, compensate: run },
        ]),
      ),
  },
  {
    made: "passes a saga the handler's context instead of its execution",
    reportedBy: "error",
    text: "place expects the handler's execution as its first argument: `run(context.idempotency, input)`",
    make: () => messageOf(() => saga("place", [{ name: "charge", run }]).run({} as never, {})),
  },
  {
    made: "runs a saga in optimistic mode",
    reportedBy: "error",
    text: "step `place/charge` needs a claim: leave `mode` out",
    make: () =>
      messageOf(() =>
        saga("place", [{ name: "charge", run }]).start(
          { store: new MemoryStore(), mode: "optimistic", clock: fakeClock() },
          "order-1",
          {},
        ),
      ),
  },
  {
    made: "runs one saga twice in one execution",
    reportedBy: "error",
    text: "step `place/charge` was used twice in one attempt",
    make: () =>
      messageOf(() => {
        const place = saga("place", [{ name: "charge", run }]);
        const options = { operation: "order", store: new MemoryStore(), leaseSeconds: 30, renewLease: false };
        return runOnce(options, "order-1", {}, async (execution) => {
          await place.run(execution, 1);
          await place.run(execution, 2);
        });
      }),
  },
  {
    made: "omits a participant's compensation",
    reportedBy: "error",
    text: "`compensate` must be a function",
    make: () =>
      messageOf(() => participant({ operation: "reserve", store: new MemoryStore(), run } as never)),
  },
];
