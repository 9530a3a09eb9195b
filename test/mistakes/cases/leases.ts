import { fakeClock, fakeLambdaContext, MemoryStore } from "onceonly/testing";
import type { LockOptions } from "../../../lib/core/lock.ts";
import { idempotent, lock, once, runOnce } from "../../../lib/index.ts";
import { logOf, type Mistake, messageOf } from "../given.ts";

const given = { operation: "order", store: new MemoryStore(), renewLease: true } as const;

/** Leases that cannot be renewed, or are renewed for nothing. */
export const LEASE_MISTAKES: readonly Mistake[] = [
  {
    made: "renews a lease that is too short to be renewed in time",
    reportedBy: "error",
    text: "`leaseSeconds` must be at least 5 if `renewLease` is true (got 2)",
    make: () => messageOf(() => runOnce({ ...given, leaseSeconds: 2 }, "key", {}, () => 1)),
  },
  {
    made: "renews a lease in optimistic mode, which has no lease",
    reportedBy: "error",
    text: "`renewLease` isn't supported in optimistic mode, in which there is no lease to renew: leave it out",
    make: () => messageOf(() => runOnce({ ...given, mode: "optimistic" }, "key", {}, () => 1)),
  },
  {
    made: "renews a lease that is as long as the invocation",
    reportedBy: "log",
    text: '`renewLease` of "order" gains nothing: its lease is 30 s, and the invocation has 29 s left; leave `renewLease` out',
    make: () =>
      logOf("warn", () =>
        idempotent(async () => 1, { ...given, key: () => "key" })(
          {},
          fakeLambdaContext({ clock: fakeClock(), remainingMs: 29_000 }),
        ),
      ),
  },
  {
    made: "passes a lock the options for stored results",
    reportedBy: "error",
    text: "`shouldStore` isn't an option (valid options: operation, store, leaseSeconds",
    make: () => {
      const { operation, store } = given;
      return messageOf(() =>
        lock({ operation, store, shouldStore: () => true } as LockOptions, "key", () => 1),
      );
    },
  },
  {
    made: "passes the decorator an argument's name as the key",
    reportedBy: "error",
    text: "`key` must be a function (got a string of 7 characters)",
    make: () => messageOf(() => once({ ...given, key: "orderId" as never })),
  },
];
