/** The bounds under which the model is explored: small ones in every test run, large ones when asked for. */
import type { Bounds, CallKind } from "./bounds.ts";

export const COMMIT: CallKind = { mode: "claimed", handler: "commit" };
export const OUTSIDE: CallKind = { mode: "claimed", handler: "outside" };
export const OPTIMISTIC: CallKind = { mode: "optimistic", handler: "commit" };
const FAIL_OPEN: CallKind = { mode: "fail-open", handler: "commit" };

/** One key, one worker whose clock is right, no senders. */
export const SMALLEST: Bounds = {
  title: "",
  hosts: [0],
  keys: 1,
  calls: [COMMIT],
  senders: 0,
  payloads: 1,
  workTicks: 1,
  graceTicks: 0,
  retentionTicks: 3,
  outlives: false,
};

const boundsOf = (title: string, change: Partial<Bounds>): Bounds => ({ ...SMALLEST, title, ...change });

/** Two hosts whose clocks differ by as much as `clockSkewSeconds` says. */
const APART: Partial<Bounds> = { hosts: [0, 1], graceTicks: 1 };

export const NORMAL: readonly Bounds[] = [
  boundsOf("effects outside", { ...APART, calls: [OUTSIDE], workTicks: 2, retentionTicks: 4 }),
  boundsOf("effects outside, 3 workers", { ...APART, hosts: [0, 0, 1], calls: [OUTSIDE] }),
  boundsOf("commits, relay and sweeper", { ...APART, senders: 2 }),
  boundsOf("all modes on one key", { ...APART, calls: [COMMIT, OPTIMISTIC, FAIL_OPEN] }),
  boundsOf("both modes, with a sender", {
    hosts: [0, 0],
    calls: [COMMIT, OPTIMISTIC],
    senders: 1,
    retentionTicks: 2,
  }),
  boundsOf("other payloads", { ...APART, payloads: 2 }),
  boundsOf("2 keys", { ...APART, keys: 2, retentionTicks: 2 }),
  boundsOf("frozen workers, effects outside", { ...APART, calls: [OUTSIDE], outlives: true }),
  boundsOf("frozen workers, both modes", {
    hosts: [0, 0],
    calls: [COMMIT, OPTIMISTIC],
    outlives: true,
    retentionTicks: 2,
  }),
  boundsOf("clocks too far apart", { hosts: [0, 2], graceTicks: 1, calls: [COMMIT, OUTSIDE] }),
];

export const LARGE: readonly Bounds[] = [
  boundsOf("effects outside, 3 workers, 2 keys", { ...APART, hosts: [0, 0, 1], keys: 2, calls: [OUTSIDE] }),
  boundsOf("commits, 3 workers, relay and sweeper", { ...APART, hosts: [0, 0, 1], senders: 2 }),
  boundsOf("all modes, 3 workers", { ...APART, hosts: [0, 0, 1], calls: [COMMIT, OPTIMISTIC, FAIL_OPEN] }),
  boundsOf("all modes, 2 keys", { hosts: [0, 0], keys: 2, calls: [COMMIT, OPTIMISTIC, FAIL_OPEN] }),
  boundsOf("2 keys, with a sender", { ...APART, keys: 2, senders: 1 }),
  boundsOf("frozen workers, both modes, with a sender", {
    ...APART,
    calls: [COMMIT, OPTIMISTIC],
    senders: 1,
    outlives: true,
  }),
  boundsOf("frozen workers, commits and effects outside", {
    ...APART,
    calls: [COMMIT, OUTSIDE],
    outlives: true,
  }),
  boundsOf("frozen workers, long work", {
    ...APART,
    calls: [COMMIT, OUTSIDE],
    workTicks: 2,
    retentionTicks: 5,
    outlives: true,
  }),
];

/** Some of everything: too much to be explored, for walks. */
export const RICH = boundsOf("", {
  ...APART,
  hosts: [0, 0, 1],
  keys: 2,
  calls: [COMMIT, OUTSIDE, OPTIMISTIC, FAIL_OPEN],
  senders: 2,
  payloads: 2,
});
