/** Two subjects of the store contract as one: the writes of the one that commits, and changes in both. */
import type { StoreSubject } from "onceonly/testing";
import { type Clock, systemClock } from "../../lib/core/clock.ts";
import type { Store } from "../../lib/core/store.ts";
import { migrating } from "../../lib/stores/migrating.ts";
import { AFTER_EXPIRY } from "../../lib/testing/contract/given.ts";

type Behind = Pick<StoreSubject<never>, "alter" | "remove"> & { readonly store: Store<never> };

/**
 * An insertion claims first in the stage that commits in `to`, and its claim stays if its writes are refused. Other callers see
 * that claim.
 */
const CLAIMS_FIRST = [
  "insert with a refused condition inserts nothing and names the write",
  "a refused write leaves neither record nor messages",
  "of many simultaneous insertions exactly one is applied, and the others get its record",
];

export const isKept = (commitsIn: "from" | "to", name: string): boolean =>
  commitsIn === "from" || !CLAIMS_FIRST.includes(name);

/** The cases lie ahead of the present. This store has to know where a retention is over. */
export const clockOf = (name: string): Clock =>
  name.includes("expired") ? { ...systemClock, now: () => AFTER_EXPIRY } : systemClock;

export function migratingSubject<Write>(
  leading: StoreSubject<Write>,
  following: Behind,
  commitsIn: "from" | "to",
  clock: Clock,
): StoreSubject<Write> {
  return {
    ...leading,
    store:
      commitsIn === "from"
        ? migrating(leading.store, following.store, { clock })
        : migrating(following.store, leading.store, { commitsIn, clock }),
    alter: async (recordKey, change) => {
      await leading.alter(recordKey, change);
      await following.alter(recordKey, change);
    },
    remove: async (recordKey) => {
      await leading.remove(recordKey);
      await following.remove(recordKey);
    },
  };
}
