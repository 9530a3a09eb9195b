/** A lease kept in a record store: a separate record, which is claimed and released. It never has a result. */
import { hashTuple } from "./identity.ts";
import { classify, isClaimOf, successionOf } from "./record.ts";
import type { Store } from "./store.ts";
import type { Lease } from "./turn.ts";

/** No other record has such a key: theirs begin with an operation. */
const PREFIX = "#lease/";

export const isLease = (recordKey: string): boolean => recordKey.startsWith(PREFIX);

/** TTL deletes a lease that is no longer claimed. */
const EXPIRES_AFTER_SECONDS = 3600;

/** @param names the parts of the lease's name; in another order it's another lease */
export function storeLease<Write>(
  store: Store<Write>,
  ...names: readonly string[]
): (lease: Lease) => Promise<boolean> {
  const fingerprint = hashTuple("onceonly/lease/1", ...names);
  const recordKey = `${PREFIX}${fingerprint}`;
  let isMine = false;
  return async ({ id: token, now, until }) => {
    const expiresAt = Math.ceil(now / 1000) + EXPIRES_AFTER_SECONDS;
    const own = { recordKey, token, expiresAt };
    if (until === 0) {
      await store.settle({ ...own, now, state: "released", writes: [], messages: [] });
      return true;
    }
    if (isMine) return (await store.renew({ ...own, leaseEndsAt: until })).renewed;
    const seen = await store.find(recordKey, { consistent: true });
    const status = seen && classify(seen, { token, fingerprints: [fingerprint], now });
    if (status === "in-progress") return false;
    const claim = { ...own, fingerprint, leaseEndsAt: until, ...successionOf(seen, now) };
    const answer = await store.claim(claim, seen);
    isMine = answer.won || isClaimOf(answer.record, token);
    return isMine;
  };
}
