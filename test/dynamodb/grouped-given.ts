// A grouped store whose every request has company: so that each case of the store contract goes through groups.
import { randomUUID } from "node:crypto";
import { systemClock } from "../../lib/core/clock.ts";
import { identify } from "../../lib/core/identity.ts";
import type { Claim, Effects, Store } from "../../lib/core/store.ts";
import { groupedStore } from "../../lib/dynamodb/grouped-store.ts";
import type { StoreSubject } from "../../lib/testing/contract/store-contract.ts";

/** What else is asked at the same time, about keys that no case knows; it must come to a good end each time. */
export function withCompany<Write>(subject: StoreSubject<Write>): StoreSubject<Write> {
  const { store: alone, countUp } = subject;
  const grouped = groupedStore(alone, { clock: systemClock, completionsWait: true, onRefused: () => {} });
  const companions = () => ({
    ...identify("company", "", randomUUID()),
    token: randomUUID(),
    fingerprint: "f",
    attempt: 1,
    createdAt: Date.now(),
    keepsSteps: false,
    expiresAt: Math.ceil(Date.now() / 1000) + 3600,
    leaseEndsAt: Date.now() + 30_000,
  });
  const claimOf = ({ leaseEndsAt, ...beginning }: ReturnType<typeof companions>): Claim => {
    const { recordKey, token, fingerprint, attempt, createdAt, keepsSteps, expiresAt } = beginning;
    return { recordKey, token, fingerprint, attempt, createdAt, keepsSteps, expiresAt, leaseEndsAt };
  };
  const effectsLike = ({ writes }: Effects<Write>): Effects<Write> => ({
    writes: writes.length > 0 ? [countUp(`company ${randomUUID()}`)] : [],
    messages: [],
  });
  const both = async <T>(answer: Promise<T>, company: Promise<object | undefined>): Promise<T> => {
    const [own, other] = await Promise.allSettled([answer, company]);
    if (other.status === "rejected") throw other.reason;
    if (own.status === "rejected") throw own.reason;
    return own.value;
  };
  const store: Store<Write> = {
    claim: (claim, seen) => both(grouped.claim(claim, seen), grouped.claim(claimOf(companions()))),
    async settle(settlement) {
      const companion = claimOf(companions());
      await alone.claim(companion);
      const { recordKey, token } = companion;
      const company = grouped.settle({ ...settlement, ...effectsLike(settlement), recordKey, token });
      return both(grouped.settle(settlement), company);
    },
    renew: (renewal) => grouped.renew(renewal),
    insert(insertion, seen) {
      const company = { ...insertion, ...effectsLike(insertion), ...claimOf(companions()) };
      return both(grouped.insert(insertion, seen), grouped.insert(company));
    },
    find: (recordKey, read) =>
      both(
        grouped.find(recordKey, read),
        grouped.find(companions().recordKey, read).then(() => undefined),
      ),
    loadResult: (address) => grouped.loadResult(address),
    checkEffects: (effects) => grouped.checkEffects(effects),
    unknownOutcomes: grouped.unknownOutcomes?.bind(grouped),
    writeStep: grouped.writeStep?.bind(grouped),
  };
  return { ...subject, store };
}
