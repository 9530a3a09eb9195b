// Keys whose attempts died, and a reconciler that comes by.
import type { Execution } from "../../lib/core/execution.ts";
import { identify } from "../../lib/core/identity.ts";
import { type RunOnceOptions, runOnce } from "../../lib/core/run-once.ts";
import { isLease } from "../../lib/core/store-lease.ts";
import type { Evidence } from "../../lib/core/verify.ts";
import { reconciler } from "../../lib/reconciler/reconciler.ts";
import type { ReconcilerEvent, ReconcilerOptions } from "../../lib/reconciler/reconciler-options.ts";
import { fakeClock, fakeLambdaContext, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";

export const START = 1_700_000_000_000;

type Options = ReconcilerOptions<MemoryWrite>;
type Calls = Partial<RunOnceOptions<MemoryWrite>>;

export function reconcilerWorld() {
  const clock = fakeClock(START);
  const store = new MemoryStore();
  const events: ReconcilerEvent[] = [];
  const keyOf = (key: string) => identify("charge", "", key).recordKey;

  const call = <T>(
    key: string,
    work: (execution: Execution<MemoryWrite>) => T | Promise<T>,
    more: Calls = {},
  ) =>
    runOnce(
      {
        operation: "charge",
        store,
        clock,
        leaseSeconds: 30,
        renewLease: false,
        whenAbandoned: "hold",
        ...more,
      },
      key,
      {},
      work,
    );

  /** The attempt of a key dies, or seems to; what is returned ends it after all. */
  async function dies(key: string, more: Calls = {}) {
    let resume: (value: string) => void = () => {};
    const worker = call(key, () => new Promise<string>((resolve) => (resume = resolve)), more);
    worker.catch(() => {});
    await clock.advance(0);
    return { worker, resume: (value: string) => resume(value) };
  }

  const optionsOf = (charge: Options["operations"][string], more: Partial<Options> = {}): Options => ({
    store,
    clock,
    operations: { charge },
    observe: (event) => events.push(event),
    ...more,
  });

  const run = (options: Options, remainingMs = 60_000) =>
    clock.run(reconciler(options)({}, fakeLambdaContext({ clock, remainingMs })));

  return {
    clock,
    store,
    events,
    keyOf,
    call,
    dies,
    optionsOf,
    run,

    /** One run, a minute and a half after the lease of whoever died. */
    async reconcile(charge: Options["operations"][string], more: Partial<Options> = {}) {
      await clock.advance(100_000);
      return run(optionsOf(charge, more));
    },

    /** All but the lease of reconcilers. */
    records() {
      return [...store.records].filter(([recordKey]) => !isLease(recordKey));
    },

    record(key: string) {
      const record = store.records.get(keyOf(key));
      if (!record) throw new Error(`no record of ${key}`);
      return record;
    },

    evidence(key: string): Evidence {
      return JSON.parse(store.records.get(keyOf(key))?.evidence ?? "{}");
    },
  };
}
