// What happens in a service for each alarm of IdempotencyMonitoring to be raised.
import { watchNewKeys } from "onceonly";
import { MemoryStore } from "onceonly/testing";
import { failing } from "../../../kit/faults/faulty-store.ts";
import type { Observed } from "../../../observe/world.ts";

const HOUR_MS = 3_600_000;
const forever = () => new Promise(() => {});

/** What each alarm is about, as the engine or the relay reports it. */
export const ABOUT: Readonly<Record<string, readonly string[]>> = {
  "replay-rate": ["replayed", "executed"],
  mismatches: ["mismatch"],
  "new-keys": ["new-keys"],
  "in-progress": ["in-progress"],
  "in-progress-age": ["in-progress"],
  held: ["held"],
  "taken-over": ["taken-over"],
  "claim-lost": ["claim-lost"],
  "completion-lost": ["completion-lost"],
  "ran-unprotected": ["ran-unprotected"],
  "outcome-unknown": ["outcome-unknown"],
  "unsettled-age": ["unsettled"],
  "store-failures": ["store-failed"],
  "outbox-lag": ["sent"],
  "send-failed": ["send-failed"],
  "outbox-age": ["backlog"],
  "outbox-backlog": ["backlog"],
  "outbox-parked": ["backlog"],
};

/** Messages that nobody takes, after so many hours. */
const refuseFor = (hours: number) => async (world: Observed) => {
  await world.commitMessage();
  world.bus.faultOf = () => ({ Code: "InternalFailure", SenderFault: true });
  await world.relay();
  for (let hour = 0; hour < hours; hour++) {
    await world.clock.advance(HOUR_MS);
    await world.sweep();
  }
};

/** How that comes about: by what the engine, the relay or a batch really decides. */
export const SCENARIOS: Readonly<Record<string, (world: Observed) => Promise<void>>> = {
  "replay-rate": async (world) => {
    for (let time = 0; time < 20; time++) await world.call(() => "created");
  },
  mismatches: async (world) => {
    await world.consume("message-1", "10 euros", () => "charged");
    await world.consume("message-1", "99 euros", () => "charged");
  },
  "new-keys": async (world) => {
    const store = watchNewKeys(world.memory, { observe: world.observe, clock: world.clock });
    for (const key of ["key-1", "key-2", "key-3"]) await world.call(() => "created", { store }, {}, key);
  },
  "in-progress": async (world) => {
    world.start(forever);
    await world.clock.advance(0);
    await world.call(() => "created");
  },
  "in-progress-age": async (world) => {
    world.start(forever, { leaseSeconds: 3600 });
    await world.clock.advance(HOUR_MS / 2);
    await world.call(() => "created");
  },
  held: async (world) => {
    world.start(forever);
    await world.clock.advance(0);
    for (const recordKey of world.memory.records.keys()) world.memory.alter(recordKey, { state: "held" });
    await world.call(() => "created");
  },
  "taken-over": async (world) => {
    world.start(forever);
    await world.clock.advance(60_000);
    await world.call(() => "created");
  },
  "claim-lost": async (world) => {
    const slow = world.start(() => world.clock.sleep(100_000));
    await world.clock.advance(60_000);
    await world.call(() => "created");
    await world.clock.advance(60_000);
    await slow.catch(() => {});
  },
  "completion-lost": (world) =>
    world.call(() => "created", { store: failing(world.memory, "settle", "before") }),
  "ran-unprotected": (world) =>
    world.call(() => "created", {
      store: failing(world.memory, "claim", "before"),
      whenStoreFails: "run",
    }),
  "outcome-unknown": async (world) => {
    const slow = world.start(({ signal }) => aborted(signal));
    await world.clock.advance(60_000);
    await slow.catch(() => {});
  },
  "unsettled-age": async (world) => {
    world.start(forever, { whenAbandoned: "hold" });
    await world.clock.advance(5 * HOUR_MS);
    await world.reconcile("hold");
  },
  "store-failures": (world) =>
    world.consume("message-1", "10 euros", () => "charged", {
      store: failing(new MemoryStore(), "claim", "before"),
    }),
  "outbox-lag": async (world) => {
    await world.commitMessage();
    await world.clock.advance(HOUR_MS);
    await world.relay();
  },
  "send-failed": async (world) => {
    await world.commitMessage();
    world.bus.faultOf = () => ({ Code: "InternalFailure", SenderFault: true });
    await world.relay();
  },
  "outbox-age": refuseFor(5),
  "outbox-backlog": refuseFor(1),
  "outbox-parked": refuseFor(73),
};

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}
