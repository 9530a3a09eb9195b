// The contract must be able to fail: each store here breaks one promise, and at least one case says so.
import { AssertionError } from "node:assert";
import { MemoryStore, type MemoryWrite, storeContract } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import type { Outbox, Taken, Unsent } from "../../lib/core/messages/outbox.ts";
import type { IdempotencyRecord } from "../../lib/core/record.ts";
import type { Claim, Insertion, Renewal, Settlement } from "../../lib/core/store.ts";
import type { MemoryOutbox } from "../../lib/testing/memory-outbox.ts";
import { memorySubject } from "../kit/memory-subject.ts";
import { withOutbox } from "../kit/with-outbox.ts";

type Broken = Record<string, () => MemoryStore>;

/** A store whose record is changed before each claim. */
const before = (change: (record: IdempotencyRecord) => Partial<IdempotencyRecord>) =>
  class extends MemoryStore {
    override async claim(claim: Claim, seen?: IdempotencyRecord) {
      const record = this.records.get(claim.recordKey);
      if (record) this.alter(claim.recordKey, change(record));
      return super.claim(claim, seen);
    }
  };

/** A store that takes another claim, or another record as seen, than it was given. `now` is the record as it is. */
const claiming = (
  change: (
    claim: Claim,
    seen: IdempotencyRecord | undefined,
    now: IdempotencyRecord | undefined,
  ) => { claim?: Partial<Claim>; seen?: IdempotencyRecord | undefined },
) =>
  class extends MemoryStore {
    override async claim(claim: Claim, seen?: IdempotencyRecord) {
      const given = { seen, ...change(claim, seen, this.records.get(claim.recordKey)) };
      return super.claim({ ...claim, ...given.claim }, given.seen);
    }
  };

const lying = (answer: object) =>
  class extends MemoryStore {
    override async claim(claim: Claim, seen?: IdempotencyRecord) {
      return { ...(await super.claim(claim, seen)), ...answer };
    }
  };

const settling = (
  settle: (settlement: Settlement<MemoryWrite>, store: MemoryStore) => Partial<Settlement<MemoryWrite>>,
) =>
  class extends MemoryStore {
    override async settle(settlement: Settlement<MemoryWrite>) {
      return super.settle({ ...settlement, ...settle(settlement, this) });
    }
  };

const renewing = (renew: (renewal: Renewal, store: MemoryStore) => Partial<Renewal>) =>
  class extends MemoryStore {
    override async renew(renewal: Renewal) {
      return super.renew({ ...renewal, ...renew(renewal, this) });
    }
  };

const inserting = (
  insert: (insertion: Insertion<MemoryWrite>, store: MemoryStore) => Partial<Insertion<MemoryWrite>>,
) =>
  class extends MemoryStore {
    override async insert(insertion: Insertion<MemoryWrite>, seen?: IdempotencyRecord) {
      return super.insert({ ...insertion, ...insert(insertion, this) }, seen);
    }
  };

const make =
  <T>(Store: new () => T) =>
  () =>
    new Store();

const BROKEN: Broken = {
  "claims whatever is there": make(claiming((_, __, now) => ({ seen: now }))),
  "never takes over": make(claiming((_, seen) => ({ seen: seen && { ...seen, token: "other" } }))),
  "takes what was not seen for what was": make(
    claiming((_, seen, now) => ({ seen: seen && { ...seen, token: now?.token ?? "" } })),
  ),
  "ignores the state that was seen": make(
    claiming((_, seen, now) => ({ seen: seen && now && { ...seen, state: now.state } })),
  ),
  "ignores the lease end that was seen": make(
    claiming((_, seen, now) => ({ seen: seen && now && { ...seen, leaseEndsAt: now.leaseEndsAt } })),
  ),
  "makes a record where one was seen that is gone": make(claiming((_, seen, now) => ({ seen: now && seen }))),
  "gives a key back to the token that released it": make(
    before(({ state }) => (state === "released" ? { token: "token-1", state: "in-progress" } : {})),
  ),
  "claims with the fingerprint that was there": make(
    claiming((_, seen) => ({ claim: seen && { fingerprint: seen.fingerprint } })),
  ),
  "ignores the version": make(before(() => ({ version: 1 }))),
  "ignores the expiry": make(before(() => ({ expiresAt: undefined }))),
  "forgets the steps": make(claiming(() => ({ claim: { keepsSteps: false } }))),
  "keeps the steps of what is expired": make(claiming(() => ({ claim: { keepsSteps: true } }))),
  "forgets the attempts": make(claiming(() => ({ claim: { attempt: 1 } }))),
  "forgets when the key was first claimed": make(claiming(() => ({ claim: { createdAt: 1 } }))),
  "wins always": make(lying({ won: true })),
  "wins never": make(lying({ won: false })),
  "returns no record": make(lying({ record: undefined })),
  "settles for any token": make(
    settling(({ recordKey, token }, store) => ({ token: store.records.get(recordKey)?.token ?? token })),
  ),
  "settles from any state": make(
    settling(({ recordKey }, store) => {
      store.alter(recordKey, { state: "in-progress" });
      return {};
    }),
  ),
  "deletes what may be held by age": make(
    claiming((claim) => ({ claim: { expiresAt: claim.expiresAt ?? 1 } })),
  ),
  "drops the evidence": make(settling(() => ({ evidence: undefined }))),
  "drops the evidence where there is no other one": make(
    settling(({ recordKey, evidence }, store) => {
      store.alter(recordKey, { evidence });
      return {};
    }),
  ),
  "drops the evidence of a record that is taken over": () =>
    new (class extends MemoryStore {
      override async claim(claim: Claim, seen?: IdempotencyRecord) {
        if (seen) this.alter(claim.recordKey, { evidence: undefined });
        return super.claim(claim, seen);
      }
    })(),
  "drops the writes of a settlement": make(settling(() => ({ writes: [] }))),
  "drops the writes of an insertion": make(inserting(() => ({ writes: [] }))),
  "drops the result": make(settling(() => ({ result: undefined }))),
  "makes an absent result null": make(settling(({ result }) => ({ result: result ?? "null" }))),
  "drops the expiry": make(settling(() => ({ expiresAt: undefined }))),
  "keeps the claim's expiry": make(settling(({ expiresAt }) => ({ expiresAt: expiresAt ?? 9_999_999_999 }))),
  "inserts over anything": () =>
    new (class extends MemoryStore {
      override async insert(insertion: Insertion<MemoryWrite>) {
        return super.insert(insertion, this.records.get(insertion.recordKey));
      }
    })(),
  "inserts over a claim of its own as over another's": make(
    inserting(({ recordKey, token }, store) => {
      if (store.records.get(recordKey)?.token === token) store.alter(recordKey, { attempt: 1 });
      return {};
    }),
  ),
  "inserts for any token": make(
    inserting(({ recordKey, token }, store) => ({ token: store.records.get(recordKey)?.token ?? token })),
  ),
  "applies writes before it looks at the record": () =>
    new (class extends MemoryStore {
      override async settle(settlement: Settlement<MemoryWrite>) {
        await super.insert({
          ...settlement,
          recordKey: `${settlement.recordKey}-writes-${Math.random()}`,
          fingerprint: "x",
          attempt: 1,
          createdAt: 1,
          keepsSteps: false,
          state: "completed",
          expiresAt: 1,
        });
        return super.settle({ ...settlement, writes: [] });
      }
    })(),
  "renews for any token": make(
    renewing(({ recordKey }, store) => ({ token: store.records.get(recordKey)?.token ?? "" })),
  ),
  "lets an old renewal shorten a lease": () =>
    new (class extends MemoryStore {
      override async renew(renewal: Renewal) {
        const { leaseEndsAt = 0 } = this.records.get(renewal.recordKey) ?? {};
        const answer = await super.renew({
          ...renewal,
          leaseEndsAt: Math.max(leaseEndsAt, renewal.leaseEndsAt),
        });
        if (answer.renewed) this.alter(renewal.recordKey, { leaseEndsAt: renewal.leaseEndsAt });
        return answer;
      }
    })(),
  "renews nothing": () =>
    new (class extends MemoryStore {
      override async renew() {
        return { renewed: true } as const;
      }
    })(),
  "refuses a renewal that it has made": () =>
    new (class extends MemoryStore {
      override async renew(renewal: Renewal) {
        const record = this.records.get(renewal.recordKey);
        return record?.leaseEndsAt === renewal.leaseEndsAt
          ? { renewed: false as const, record }
          : super.renew(renewal);
      }
    })(),
  "renews finished records": () =>
    new (class extends MemoryStore {
      override async renew(renewal: Renewal) {
        const { state } = this.records.get(renewal.recordKey) ?? {};
        if (state) this.alter(renewal.recordKey, { state: "in-progress" });
        const answer = await super.renew(renewal);
        if (state) this.alter(renewal.recordKey, { state });
        return answer;
      }
    })(),
  "truncates large results": make(settling(({ result }) => ({ result: result?.slice(0, 100_000) }))),
  "loses large results": () =>
    new (class extends MemoryStore {
      override async loadResult() {
        return undefined;
      }
    })(),
  "keeps no results": () => new MemoryStore({ maxResultBytes: 0 }),
  "answers late": () =>
    new (class extends MemoryStore {
      readonly #seen = new Map<string, IdempotencyRecord | undefined>();
      // Reads first and decides later: a race between two claims is lost.
      override async claim(claim: Claim, seen?: IdempotencyRecord) {
        const record = structuredClone(this.records.get(claim.recordKey));
        this.#seen.set(claim.recordKey, record);
        await Promise.resolve();
        if (record === undefined) this.alter(claim.recordKey, undefined);
        return super.claim(claim, seen);
      }
    })(),
  "never refuses a write": () =>
    new (class extends MemoryStore {
      override checkEffects() {}
    })(),
  "refuses every write": () =>
    new (class extends MemoryStore {
      override checkEffects() {
        throw new Error("no");
      }
    })(),
  "invents records": () =>
    new (class extends MemoryStore {
      override async find(recordKey: string, read: { consistent: boolean }) {
        return (await super.find(recordKey, read)) ?? ({ version: 1 } as IdempotencyRecord);
      }
    })(),
};

const ALL_TAKEN = async (unsent: Unsent | undefined): Promise<Taken> =>
  unsent ? { state: "taken", unsent } : { state: "over" };

/** Outboxes that break one promise each. */
const BROKEN_OUTBOXES: Record<string, (outbox: MemoryOutbox) => Partial<Outbox>> = {
  "hands a commit to all": (outbox) => ({ take: async (key) => ALL_TAKEN(await outbox.load(key)) }),
  "hands a commit to nobody": () => ({ take: async () => ({ state: "held", unsent: undefined }) }),
  "lets a sweeper take what a relay has": (outbox) => ({
    take: (key, taking) => outbox.take(key, { ...taking, by: "relay" }),
  }),
  "lets no relay take what a relay has": (outbox) => ({
    take: (key, taking) => outbox.take(key, { ...taking, by: "sweeper" }),
  }),
  "holds a commit for ever": (outbox) => ({
    take: (key, taking) => outbox.take(key, { ...taking, until: taking.until * 2 }),
  }),
  "takes what has another place": (outbox) => ({
    take: (key, { dueAt: _, ...taking }) => outbox.take(key, taking),
  }),
  "takes what is not due": (outbox) => ({
    take: async (key, taking) =>
      outbox.take(key, { ...taking, now: Math.max(taking.now, (await outbox.load(key))?.dueAt ?? 0) }),
  }),
  "keeps nothing": () => ({ keep: async () => {} }),
  "keeps what the last one says": (outbox) => ({
    keep: async (unsent, progress, dueAt) =>
      outbox.keep({ ...(await outbox.load(unsent.recordKey))!, token: unsent.token }, progress, dueAt),
  }),
  "keeps it for any attempt": (outbox) => ({
    keep: async (unsent, progress, dueAt) =>
      outbox.keep({ ...unsent, token: (await outbox.load(unsent.recordKey))?.token ?? "" }, progress, dueAt),
  }),
  "gives it no other time": (outbox) => ({
    keep: (unsent, progress) => outbox.keep(unsent, progress, unsent.dueAt),
  }),
  "marks what is parked as sent": (outbox) => ({
    async keep(unsent, progress, dueAt) {
      if (progress.some(({ state }) => state === "waiting")) await outbox.keep(unsent, progress, dueAt);
      else await outbox.markSent(unsent, progress);
    },
  }),
  "does not park": () => ({ park: async () => false }),
  "parks what is not there": (outbox) => ({ park: (key, now) => outbox.park(key, now).then(() => true) }),
  "counts nothing": () => ({ count: async () => ({ waiting: 0, parked: 0 }) }),
  "leases the outbox to every sweep": () => ({ leaseSweep: async () => true }),
  "never ends a sweep's lease": (outbox) => ({
    leaseSweep: (lease) => (lease.until === 0 ? Promise.resolve(true) : outbox.leaseSweep(lease)),
  }),
  "loses notes": () => ({ replaceNotes: async () => true }),
  "replaces any notes": (outbox) => ({
    replaceNotes: async (_, notes) => outbox.replaceNotes(await outbox.readNotes(), notes),
  }),
  "takes a repetition for another change": (outbox) => ({
    replaceNotes: async (former, notes) =>
      (await outbox.readNotes()) === former && outbox.replaceNotes(former, notes),
  }),
  "knows commits whose records are gone": (outbox) => {
    const all = new Map<string, Unsent>();
    return {
      load: async (key) => {
        const unsent = await outbox.load(key);
        if (unsent) all.set(key, unsent);
        return all.get(key);
      },
    };
  },
};

describe("storeContract", () => {
  it.each(Object.entries(BROKEN_OUTBOXES))("finds out an outbox that %s", async (_, broken) => {
    const store = new MemoryStore();
    const subject = { ...memorySubject(store), outbox: withOutbox(store.outbox, broken(store.outbox)) };
    const failures: string[] = [];

    for (const { name, run } of storeContract(() => subject)) {
      await run().catch((error) => failures.push(`${name}: ${(error as Error).name}`));
    }

    expect(failures).not.toEqual([]);
  });

  it.each(Object.entries(BROKEN))("finds out a store that %s", async (_, newStore) => {
    const failures: string[] = [];

    for (const { name, run } of storeContract(() => memorySubject(newStore()))) {
      await run().catch((error) => failures.push(`${name}: ${(error as Error).name}`));
    }

    expect(failures).not.toEqual([]);
  });

  it("has a different name for every case", () => {
    const names = storeContract(() => memorySubject()).map(({ name }) => name);

    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(60);
  });

  it("reports a broken promise as an AssertionError, and requires examples of unacceptable writes", async () => {
    const subject = { ...memorySubject(), unacceptableWrites: [] };
    const [check] = storeContract(() => subject).filter(({ name }) => name.startsWith("checkEffects"));

    await expect(check?.run()).rejects.toThrow(AssertionError);
  });

  it("asks for the subject when a case runs, not before", async () => {
    let asked = 0;
    const cases = storeContract(async () => {
      asked++;
      return memorySubject();
    });
    expect(asked).toBe(0);

    await cases[0]?.run();

    expect(asked).toBe(1);
  });
});
