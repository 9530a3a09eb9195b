import { fakeClock, MemoryStore } from "onceonly/testing";
import { httpIdempotent, type RunOnceOptions, runOnce } from "../../../lib/index.ts";
import type { Mistake } from "../given.ts";
import { messageOf } from "../given.ts";

const given = { operation: "charge", store: new MemoryStore(), leaseSeconds: 30 };
const optionsOf = (more: object) => ({ ...given, ...more }) as RunOnceOptions;

const refused = (more: object) => messageOf(() => runOnce(optionsOf(more), "order-1", {}, () => 1));

/** A store of a user, written before unknown outcomes could be listed. */
function withoutList(): object {
  const store = new MemoryStore();
  return Object.assign(Object.create(store), { unknownOutcomes: undefined });
}

/** The message of the error that `verify`'s answer leads to, behind the one that a caller gets. */
async function causeOf(answer: unknown): Promise<string> {
  const clock = fakeClock();
  const store = new MemoryStore();
  const options = optionsOf({ clock, store, renewLease: false, whenAbandoned: () => answer });
  void runOnce(options, "order-1", {}, () => new Promise(() => {}));
  await clock.advance(60_000);
  const call = runOnce(options, "order-1", {}, () => 1);
  const error = await clock.run(call.catch((error: Error) => error));
  return messageOf(() => Promise.reject((error as Error).cause));
}

/** Attempts with an unknown end, and what is asked about them. */
export const OUTCOME_MISTAKES: readonly Mistake[] = [
  {
    made: "sets `whenAbandoned` to an unknown word",
    reportedBy: "error",
    text: '`whenAbandoned` must be "run", "hold" or a function (got a string of 6 characters)',
    make: () => refused({ whenAbandoned: "verify" }),
  },
  {
    made: "holds keys in optimistic mode",
    reportedBy: "error",
    text: "`whenAbandoned` isn't supported in optimistic mode, in which there are no claims to abandon: leave it out",
    make: () => refused({ whenAbandoned: "hold", mode: "optimistic" }),
  },
  {
    made: "holds keys, and runs without a claim if the store fails",
    reportedBy: "error",
    text: '`whenAbandoned` can\'t be combined with `whenStoreFails: "run"`, because such a run leaves no claim to hold: leave one of them out',
    make: () => refused({ whenAbandoned: "hold", whenStoreFails: "run" }),
  },
  {
    made: "holds keys in a store that can't list held keys",
    reportedBy: "error",
    text: "`whenAbandoned` isn't supported by this store, which can't list held keys: use a store with the method `unknownOutcomes`",
    make: () => refused({ whenAbandoned: "hold", store: withoutList() }),
  },
  {
    made: "returns `true` from `verify`",
    reportedBy: "error",
    text: '`whenAbandoned` must return { outcome: "happened", result }, { outcome: "did-not-happen" } or { outcome: "unknown" } (got true)',
    make: () => causeOf(true),
  },
  {
    made: "returns `happened` without the result that every caller gets",
    reportedBy: "error",
    text: "`whenAbandoned` must return the `result` that every caller gets along with `happened`: pass `undefined` if there is none (got an object)",
    make: () => causeOf({ outcome: "happened" }),
  },
  {
    made: "returns `happened` with a result that isn't JSON",
    reportedBy: "error",
    text: "can't store the result: $.at is",
    make: () => causeOf({ outcome: "happened", result: { at: new Date(0) } }),
  },
  {
    made: "returns `happened` without a result, in TypeScript",
    reportedBy: "type",
    text: "Property 'result' is missing",
    make: () =>
      httpIdempotent(async () => ({ statusCode: 201 }), {
        ...given,
        scope: "public",
        // @ts-expect-error
        whenAbandoned: () => ({ outcome: "happened" }),
      }),
  },
];
