// How long a call waits for a DynamoDB client that a user passes and that never answers: 10 seconds, or what its invocation has left.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const within = (ms: number) => ({ context: { getRemainingTimeInMillis: () => ms } as never });

/** How far the system's timers had to go until a claim ended, in steps of 250 ms; 20 seconds if it didn't. */
async function waited(options: object): Promise<number> {
  const client = { config: {}, send: () => new Promise(() => {}) };
  const store = new DynamoDBStore({ tableName: "records", client });
  let end: unknown;
  const call = runOnce(
    { operation: "order", store, clock: fakeClock(), ...options },
    "key",
    {},
    () => "never",
  );
  void call.catch((error) => {
    end = error.code;
  });
  let ms = 0;
  for (; end === undefined && ms < 20_000; ms += 250) await vi.advanceTimersByTimeAsync(250);
  expect(end).toBe("STORE_UNAVAILABLE");
  return ms;
}

describe("a DynamoDB client that never answers", () => {
  it.each([
    ["10 seconds, while more is left", within(900_000), 10_000],
    ["10 seconds, with a lease and no invocation", { leaseSeconds: 30, renewLease: false }, 10_000],
    ["10 seconds, if nothing bounds the call", { leaseSeconds: 30 }, 10_000],
    ["what is left, but for the time to answer", within(6000), 5750],
    ["what is left of a short lease", { leaseSeconds: 5, renewLease: false }, 4750],
    ["what is left, also if that is 10 seconds", within(10_000), 9750],
  ] as const)("H80: R2: is waited for %s", async (_, options, ms) => {
    expect(await waited(options)).toBe(ms);
  });
});
