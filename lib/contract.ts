/**
 * Names that infrastructure and runtime share, so that a construct, a policy, a metric and a stored
 * record cannot drift apart. Imports nothing; both halves of the package import it.
 */

/** Version of the stored record. A record of another version is never interpreted: it fails closed. */
export const RECORD_VERSION = 1;

/** Attribute names of the stored record. */
export const ATTRIBUTES = {
  partitionKey: "pk",
  version: "version",
  state: "state",
  token: "token",
  attempt: "attempt",
  leaseEndsAt: "leaseEndsAt",
  fingerprint: "fingerprint",
  steps: "steps",
  result: "result",
  resultItem: "resultItem",
  resultBytes: "resultBytes",
  messages: "messages",
  createdAt: "createdAt",
  completedAt: "completedAt",
  expiresAt: "expiresAt",
} as const;

/** Environment variables that the constructs set and a handler reads. */
export const ENVIRONMENT = {
  idempotencyTable: "IDEMPOTENCY_TABLE",
} as const;

/** The message attribute that holds the envelope: the idempotency key that travels with a message. */
export const ENVELOPE_ATTRIBUTE = "OnceonlyEnvelope";

/** Version of the envelope. One of another version counts as absent. */
export const ENVELOPE_VERSION = 1;
