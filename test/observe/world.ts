// A world whose engine, batches, relay and sweeper are all observed by emfMetrics: virtual time, a store in memory, and
// the lines that were written.
import {
  type BatchOptions,
  type Execution,
  emfMetrics,
  idempotentBatch,
  type RunOnceOptions,
  runOnce,
} from "onceonly";
import { type OutboxOptions, outboxRelay, outboxSweeper } from "onceonly/messaging";
import { reconciler, type VerifyRecord } from "onceonly/reconciler";
import { fakeClock, fakeLambdaContext, fakeRandom, MemoryStore, type MemoryWrite } from "onceonly/testing";
import type { EmfMetricsOptions } from "../../lib/observe/emf-metrics.ts";
import { fakeEventBridge } from "../kit/fake-client.ts";
import { timeless } from "../kit/time/timeless.ts";
import { withOutbox } from "../kit/with-outbox.ts";

const LEASE_SECONDS = 30;

type Work = (execution: Execution<MemoryWrite>) => unknown;
type Options = Partial<RunOnceOptions<MemoryWrite>>;

export type Observed = ReturnType<typeof observed>;

export function observed(emfOptions: EmfMetricsOptions = {}) {
  const clock = fakeClock();
  const memory = new MemoryStore();
  const lines: string[] = [];
  const observe = emfMetrics({ write: (line) => lines.push(line), clock, ...emfOptions });
  const random = fakeRandom("observed");
  const bus = fakeEventBridge();
  const engine = { operation: "create-order", store: memory, clock, random, observe };
  // The store in memory has no stream: a change is the key of the record.
  const outbox: OutboxOptions["outbox"] = withOutbox(memory.outbox, {
    readChange: (change) => memory.outbox.readChange((change as { readonly recordKey: string }).recordKey),
  });
  // Relay and sweeper load the SDK when they first send, which no virtual time waits for: they do not sleep.
  const sending = {
    destinations: "any" as const,
    outbox,
    eventBridge: bus,
    clock: timeless(clock),
    random,
    observe,
  };

  /** Work that is under way; what it waits for on the clock does not pass by itself. */
  function start(work: Work, options: Options = {}, input: unknown = { sku: "tea" }, key = "key-1") {
    const outcome = runOnce(
      { ...engine, leaseSeconds: LEASE_SECONDS, renewLease: false, ...options },
      key,
      input,
      work,
    );
    // What it came to is in the lines.
    outcome.catch(() => {});
    return outcome;
  }

  return {
    clock,
    memory,
    lines,
    bus,
    observe,
    start,

    /** One call to its end, whatever that is. */
    async call(...call: Parameters<typeof start>): Promise<void> {
      await clock.run(start(...call)).catch(() => {});
    },

    /** One message of a queue through `idempotentBatch`. */
    async consume(messageId: string, body: string, work: () => unknown, options: Partial<BatchOptions> = {}) {
      const handler = idempotentBatch(work, { ...engine, onRecordError: () => {}, ...options });
      const Records = [{ messageId, body, eventSource: "aws:sqs" }];
      // A batch of which nothing is done throws.
      await clock
        .run(handler({ Records }, fakeLambdaContext({ clock, remainingMs: 30_000 })))
        .catch(() => {});
    },

    /** Commits one message for the bus. */
    commitMessage: (key = "key-1", options: Options = {}) =>
      clock.run(
        start(
          ({ commit }) =>
            commit("created", {
              messages: [{ bus: "shop", source: "orders", detailType: "created", key, body: { key } }],
            }),
          options,
          undefined,
          key,
        ),
      ),

    /** What the table's stream brings goes through the relay. */
    async relay() {
      const Records = memory.outbox.changes.map((recordKey) => ({ recordKey, eventName: "MODIFY" }));
      await outboxRelay(sending)({ Records });
    },

    async sweep() {
      await outboxSweeper(sending)();
    },

    /** One run of the reconciler, which asks about each key in the same way. */
    async reconcile(verify: VerifyRecord | "hold") {
      const { operation, store } = engine;
      await clock.run(reconciler({ store, clock, random, observe, operations: { [operation]: verify } })());
    },
  };
}
