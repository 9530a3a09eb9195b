/** Under which conditions a write may touch a record. Each says in plain English what must be true. */

/** There is no record. */
export const ABSENT = "attribute_not_exists(#partitionKey)";

/** The record is still the one that was seen: nobody has claimed, finished or renewed it since. */
export const STILL_SEEN = "#token = :seenToken AND #state = :seenState AND #leaseEndsAt = :seenLeaseEndsAt";

/** The claim is mine and I have not finished. */
export const MINE = "#token = :token AND #state = :inProgress";

/** The commit under this token still has messages to send. */
export const STILL_UNSENT = "#token = :token AND attribute_exists(#unsentSince)";

/** And neither its progress nor who has taken it changed since it was seen. */
export const unsentAsSeen = (hasDelivery: boolean, isTaken: boolean): string =>
  `${STILL_UNSENT} AND ${hasDelivery ? "#delivery = :seenDelivery" : "attribute_not_exists(#delivery)"}` +
  ` AND ${isTaken ? "#sendingUntil = :seenUntil" : "attribute_not_exists(#sendingUntil)"}`;

/**
 * It has messages to send, of a version that this code knows, not all of them parked; they are due, exactly since when they
 * were found to be; and nobody has taken it, or only until now. A relay that had taken it is gone: a stream has one at a time.
 */
export const freeFor = (isRelay: boolean, isFound: boolean): string =>
  `attribute_exists(#unsentSince) AND #version = :version AND #unsentShard >= :zero AND #unsentSince <= :now` +
  (isFound ? " AND #unsentSince = :dueAt" : "") +
  ` AND (attribute_not_exists(#sendingUntil) OR #sendingUntil <= :now${isRelay ? " OR begins_with(#sender, :relay)" : ""})`;

/** Senders would find it, and its version is this code's, or none at all. */
export const PARKABLE =
  "attribute_exists(#unsentSince) AND #unsentShard >= :zero AND " +
  "(attribute_not_exists(#version) OR #version = :version OR NOT attribute_type(#version, :number))";
