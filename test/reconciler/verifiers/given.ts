// A question about an abandoned attempt, as `whenAbandoned` asks it.
import type { AbandonedAttempt } from "../../../lib/core/verify.ts";

const LEASE_ENDED_AT = 1_700_000_000_000;

/** How many seconds after the lease of the abandoned attempt the question comes. */
export const questionAfter = <Input>(lagSeconds: number, input: Input): AbandonedAttempt<Input> => ({
  key: "order-7",
  operation: "pay",
  scope: "",
  input,
  attempt: 1,
  fence: 2,
  startedAt: LEASE_ENDED_AT - 30_000,
  leaseEndedAt: LEASE_ENDED_AT,
  askedAt: LEASE_ENDED_AT + lagSeconds * 1000,
  signal: new AbortController().signal,
  childKey: (name) => `child of order-7: ${name}`,
});
