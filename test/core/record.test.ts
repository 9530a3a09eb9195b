import { describe, expect, it, vi } from "vitest";
import { RECORD_VERSION } from "../../lib/contract.ts";
import { RecordCorruptError } from "../../lib/core/errors.ts";
import {
  classify,
  type IdempotencyRecord,
  isExpired,
  STATES,
  successionOf,
  TRANSITIONS,
} from "../../lib/core/record.ts";
import { MemoryStore } from "../../lib/testing/index.ts";

const NOW = 1_700_000_000_000;
const claimant = { token: "mine", fingerprints: ["1:new", "1:former"], now: NOW };

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
const steps = { steps: { charge: { state: "done", attempt: 1, at: NOW } } } as const;

describe("judge", () => {
  it("requests a fingerprint in an older format only if no other one matches", () => {
    const isFormer = vi.fn((fingerprint: string) => fingerprint === "0:old");
    const judged = (fingerprint: string, state: "completed" | "released" = "completed") =>
      classify(recordOf({ state, fingerprint }), { ...claimant, isFormer });

    expect([judged("1:new"), judged("1:former"), judged("1:else", "released")]).toEqual([
      "completed",
      "completed",
      "vacant",
    ]);
    expect(isFormer).not.toHaveBeenCalled();
    expect([judged("0:old"), judged("0:other")]).toEqual(["completed", "mismatch"]);
    expect(isFormer.mock.calls).toEqual([["0:old"], ["0:other"]]);
  });

  it.each([
    ["in progress, lease live", {}, "in-progress"],
    ["in progress, lease in its last millisecond", { leaseEndsAt: NOW }, "in-progress"],
    ["in progress, lease ended", ended, "vacant"],
    ["in progress, lease ended, former fingerprint", { ...ended, ...former }, "vacant"],
    ["in progress, lease ended, other fingerprint", { ...ended, ...other }, "mismatch"],
    ["in progress, other fingerprint", other, "mismatch"],
    ["in progress, mine", { token: "mine" }, "own"],
    ["released, mine: a token claims once", { token: "mine", state: "released" }, "vacant"],
    ["completed, mine", { token: "mine", state: "completed" }, "completed"],
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
    ["released", { state: "released" }, "vacant"],
    ["released, other fingerprint", { state: "released", ...other }, "vacant"],
    ["released, steps", { state: "released", ...steps }, "vacant"],
    ["released, steps, other fingerprint", { state: "released", ...steps, ...other }, "mismatch"],
    ["released, expired", { state: "released", ...expired }, "expired"],
    ["held", { state: "held" }, "held"],
    ["held, lease ended", { state: "held", ...ended }, "held"],
    ["held, other fingerprint", { state: "held", ...other }, "mismatch"],
  ] as const)("of a record that is %s", (_, change, verdict) => {
    expect(classify(recordOf(change as Partial<IdempotencyRecord>), claimant)).toBe(verdict);
  });

  it("H46: fails closed on another version before anything else, also when the record is mine", () => {
    for (const version of [0, RECORD_VERSION + 1, Number.NaN]) {
      const record = recordOf({ version, token: "mine" });

      expect(() => classify(record, claimant)).toThrow(RecordCorruptError);
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

describe("successionOf", () => {
  it("begins again if there was no record, or if its retention is over, but keeps counting", () => {
    const seen = recordOf({ attempt: 3, ...steps });

    expect(successionOf(undefined, NOW)).toEqual({ attempt: 1, createdAt: NOW, keepsSteps: false });
    expect(successionOf({ ...seen, ...expired }, NOW)).toEqual({
      attempt: 4,
      createdAt: NOW,
      keepsSteps: false,
    });
    expect(successionOf(seen, NOW)).toEqual({ attempt: 4, createdAt: NOW - 1000, keepsSteps: true });
  });
});

describe("TRANSITIONS", () => {
  const claim = {
    recordKey: "r",
    token: "theirs",
    fingerprint: "1:new",
    attempt: 1,
    createdAt: NOW,
    keepsSteps: false,
    leaseEndsAt: NOW - 1,
    expiresAt: NOW / 1000 + 60,
  };
  const end = { ...claim, now: NOW, writes: [], messages: [] };

  it.each(STATES)("a claim moves a record from %s on exactly if the table allows it", (state) => {
    const verdict = classify(recordOf({ state, ...ended }), claimant);

    // A held record is claimed to ask about it once more, or to resolve it.
    expect(verdict === "vacant" || verdict === "held").toBe(
      (TRANSITIONS[state] as readonly string[]).includes("in-progress"),
    );
  });

  it.each(
    STATES.filter((from) => from !== "held").flatMap((from) =>
      (["completed", "failed", "released", "held"] as const).map((to) => [from, to] as const),
    ),
  )("a store moves a record from %s to %s exactly if the table allows it", async (from, to) => {
    const store = new MemoryStore();
    await store.claim(claim);
    store.alter("r", { state: from });
    const before = await store.find("r", { consistent: true });

    await store.settle({ ...end, state: to });
    // Somebody without a claim can only finish, and only what the rule of core lets him.
    if ((to === "completed" || to === "failed") && before && classify(before, claimant) === "vacant") {
      await store.insert({ ...end, token: "mine", state: to }, before);
    }

    const after = await store.find("r", { consistent: true });
    const moved = JSON.stringify(after) !== JSON.stringify(before);
    expect(moved).toBe((TRANSITIONS[from] as readonly string[]).includes(to));
    if (moved) expect(after?.state).toBe(to);
  });

  it("has a row for every state and for no record", () => {
    expect(Object.keys(TRANSITIONS).sort()).toEqual(["absent", ...STATES].sort());
  });
});
