/** Under which conditions a write may touch a record. Each says in plain English what must be true. */

const SAME = "#fingerprint IN (:same)";

/** There is no record, or `isClaimable` of core/record.ts holds for it. `:same` stands for all fingerprints. */
export const CLAIMABLE =
  // There is no record.
  "attribute_not_exists(#partitionKey) OR " +
  // Or this code knows its version, its retention is not over,
  "#version = :version AND (attribute_not_exists(#expiresAt) OR #expiresAt > :nowSeconds) AND " +
  // and the last attempt gave the key back, no step having finished or the payload being the same;
  `(#state = :released AND (attribute_not_exists(#steps) OR ${SAME}) OR ` +
  // or the lease of the last attempt has ended, and the payload is the same.
  `#state = :inProgress AND #leaseEndsAt < :now AND ${SAME})`;

/** The claim is mine and I have not finished. */
export const MINE = "#token = :token AND #state = :inProgress";

/** Nobody touched the record since it was seen to be expired. */
export const STILL_EXPIRED = "#token = :seen AND #expiresAt <= :nowSeconds";

/** The commit under this token still has messages to send. */
export const STILL_UNSENT = "#token = :token AND attribute_exists(#unsentSince)";
