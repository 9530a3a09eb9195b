/** Under which conditions a write may touch a record. Each says in plain English what must be true. */

/** There is no record. */
const ABSENT = "attribute_not_exists(#partitionKey)";

/** This code knows the record's version, and its retention is not over. */
const HONOURED = "#version = :version AND (attribute_not_exists(#expiresAt) OR #expiresAt > :nowSeconds)";

/** The last attempt gave the key back; and no step has finished, or the payload is the same. */
const RELEASED = "#state = :released AND (attribute_not_exists(#steps) OR #fingerprint IN (:same))";

/** The lease of the last attempt has ended, and the payload is the same. */
const ABANDONED = "#state = :inProgress AND #leaseEndsAt < :now AND #fingerprint IN (:same)";

/** There is no record, or `isClaimable` of core/record.ts holds for it. `:same` stands for all fingerprints. */
export const CLAIMABLE = `${ABSENT} OR (${HONOURED} AND (${RELEASED} OR (${ABANDONED})))`;

/** The claim is mine and I have not finished. */
export const MINE = "#token = :token AND #state = :inProgress";

/** Nobody touched the record since it was seen to be expired. */
export const STILL_EXPIRED = "#token = :seen AND #expiresAt <= :nowSeconds";
