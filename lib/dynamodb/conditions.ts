/** Under which conditions a write may touch a record. Each says in plain English what must be true. */

/** There is no record. */
export const ABSENT = "attribute_not_exists(#partitionKey)";

/** The record is still the one that was seen: nobody has claimed, finished or renewed it since. */
export const STILL_SEEN = "#token = :seenToken AND #state = :seenState AND #leaseEndsAt = :seenLeaseEndsAt";

/** The claim is mine and I have not finished. */
export const MINE = "#token = :token AND #state = :inProgress";

/** The commit under this token still has messages to send. */
export const STILL_UNSENT = "#token = :token AND attribute_exists(#unsentSince)";
