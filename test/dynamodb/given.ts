// A claim of a key that nobody has used, as the tests against a real engine begin with.
import { randomUUID } from "node:crypto";
import { identify } from "../../lib/core/identity.ts";
import type { Claim } from "../../lib/core/store.ts";

export const NOW = 1_900_000_000_000;

type ExpiringClaim = Claim & { readonly expiresAt: number };

export const claimOf = (token: string, change: Partial<ExpiringClaim> = {}): ExpiringClaim => ({
  recordKey: identify("op", "tenant", randomUUID()).recordKey,
  token,
  fingerprint: "f",
  attempt: 1,
  createdAt: NOW,
  keepsSteps: false,
  leaseEndsAt: NOW + 30_000,
  expiresAt: NOW / 1000 + 60,
  ...change,
});
