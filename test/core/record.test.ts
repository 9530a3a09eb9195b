import { describe, expect, it } from "vitest";
import { RECORD_VERSION } from "../../lib/contract.ts";
import { RecordCorruptError } from "../../lib/core/errors.ts";
import {
  type IdempotencyRecord,
  isClaimable,
  isExpired,
  readRefusal,
  STATES,
  TRANSITIONS,
} from "../../lib/core/record.ts";
import type { Store } from "../../lib/core/store.ts";
import { MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";

const NOW = 1_700_000_000_000;
const seeker = { token: "mine", fingerprints: ["1:new", "1:former"], now: NOW };

const recordOf = (change: Partial<IdempotencyRecord>): IdempotencyRecord => ({
  version: RECORD_VERSION,
  state: "in-progress",
  token: "theirs",
  attempt: 1,
  leaseEndsAt: NOW,
  fingerprint: "1:new",
  createdAt: NOW - 1000,
  expiresAt: NOW / 1000 + 60,
  ...change,
});

const expired = { expiresAt: NOW / 1000 };
const ended = { leaseEndsAt: NOW - 1 };
const other = { fingerprint: "1:other" };
const former = { fingerprint: "1:former" };
const steps = { steps: { charge: 1 } };

describe("readRefusal", () => {
  it.each([
    ["in progress, lease live", {}, "in-progress"],
    ["in progress, lease in its last millisecond", { leaseEndsAt: NOW }, "in-progress"],
    ["in progress, lease ended", ended, "claimable"],
    ["in progress, lease ended, former fingerprint", { ...ended, ...former }, "claimable"],
    ["in progress, lease ended, other fingerprint", { ...ended, ...other }, "mismatch"],
    ["in progress, other fingerprint", other, "mismatch"],
    ["in progress, mine", { token: "mine" }, "own"],
    ["in progress, mine, expired", { token: "mine", ...expired }, "own"],
    ["completed", { state: "completed" }, "completed"],
    ["completed, lease ended", { state: "completed", ...ended }, "completed"],
    ["completed, former fingerprint", { state: "completed", ...former }, "completed"],
    ["completed, other fingerprint", { state: "completed", ...other }, "mismatch"],
    ["completed, expired", { state: "completed", ...expired }, "expired"],
    ["completed, expired, other fingerprint", { state: "completed", ...expired, ...other }, "expired"],
    ["completed, without expiry", { state: "completed", expiresAt: undefined }, "completed"],
    ["failed", { state: "failed" }, "failed"],
    ["failed, other fingerprint", { state: "failed", ...other }, "mismatch"],
    ["released", { state: "released" }, "claimable"],
    ["released, other fingerprint", { state: "released", ...other }, "claimable"],
    ["released, steps", { state: "released", ...steps }, "claimable"],
    ["released, steps, other fingerprint", { state: "released", ...steps, ...other }, "mismatch"],
    ["released, expired", { state: "released", ...expired }, "expired"],
    ["held", { state: "held" }, "held"],
    ["held, lease ended", { state: "held", ...ended }, "held"],
    ["held, other fingerprint", { state: "held", ...other }, "mismatch"],
  ] as const)("of a record that is %s", (_, change, refusal) => {
    expect(readRefusal(recordOf(change as Partial<IdempotencyRecord>), seeker)).toBe(refusal);
  });

  it("H46: fails closed on another version before anything else, also when the record is mine", () => {
    for (const version of [0, RECORD_VERSION + 1, Number.NaN]) {
      const record = recordOf({ version, token: "mine" });

      expect(() => readRefusal(record, seeker)).toThrow(RecordCorruptError);
      expect(isClaimable({ ...record, state: "released" }, seeker)).toBe(false);
    }
  });
});

describe("isExpired", () => {
  it.each([
    [NOW / 1000 + 1, NOW + 999, false],
    [NOW / 1000 + 1, NOW + 1000, true],
    [undefined, Number.MAX_SAFE_INTEGER, false],
  ])("of expiresAt %s at %i is %s", (expiresAt, now, answer) => {
    expect(isExpired({ expiresAt }, now)).toBe(answer);
  });
});

describe("TRANSITIONS", () => {
  const moves: Record<string, (store: Store<MemoryWrite>) => Promise<unknown>> = {
    "in-progress": (store) =>
      store.claim({ ...seeker, recordKey: "r", leaseEndsAt: NOW + 1, expiresAt: NOW / 1000 + 60 }),
    ...Object.fromEntries(
      (["completed", "failed", "released", "held"] as const).map((state) => [
        state,
        async (store: Store<MemoryWrite>) => {
          const record = await store.find("r", { consistent: true });
          const token = record?.token ?? "mine";
          const finish = {
            ...seeker,
            recordKey: "r",
            token,
            writes: [],
            messages: [],
            expiresAt: NOW / 1000 + 60,
          };
          await store.settle({ ...finish, state });
          // Somebody without a claim can only finish.
          if (state === "completed" || state === "failed") {
            await store.insert({ ...finish, token: "mine", state });
          }
        },
      ]),
    ),
  };

  it.each(
    STATES.flatMap((from) => STATES.map((to) => [from, to] as const)).filter(([from]) => from !== "held"),
  )("a store moves a record from %s to %s exactly if the table says so", async (from, to) => {
    const store = new MemoryStore();
    await store.claim({
      ...seeker,
      token: "theirs",
      recordKey: "r",
      now: NOW - 2,
      leaseEndsAt: NOW - 1,
      expiresAt: NOW / 1000 + 60,
    });
    store.alter("r", { state: from });
    const before = await store.find("r", { consistent: true });

    await moves[to]?.(store);

    const after = await store.find("r", { consistent: true });
    const moved = JSON.stringify(after) !== JSON.stringify(before);
    expect(moved).toBe((TRANSITIONS[from] as readonly string[]).includes(to));
    if (moved) expect(after?.state).toBe(to);
  });

  it("has a row for every state and for no record", () => {
    expect(Object.keys(TRANSITIONS).sort()).toEqual(["absent", ...STATES].sort());
  });
});
