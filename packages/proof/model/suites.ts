/** The bounds under which the model is explored: small ones in every test run, large ones when asked for. */
import type { Bounds, CallKind } from "./bounds.ts";

export const COMMIT: CallKind = { mode: "claimed", handler: "commit" };
const OUTSIDE: CallKind = { mode: "claimed", handler: "outside" };
export const OPTIMISTIC: CallKind = { mode: "optimistic", handler: "commit" };
const CONDITIONAL: CallKind = { mode: "claimed", handler: "conditional" };
const OPTIMISTIC_CONDITIONAL: CallKind = { mode: "optimistic", handler: "conditional" };
const STEPS: CallKind = { mode: "claimed", handler: "steps" };
const ASKED_STEPS: CallKind = { mode: "claimed", handler: "asked steps" };
const SAGA: CallKind = { mode: "claimed", handler: "saga" };
const PIVOT_SAGA: CallKind = { mode: "claimed", handler: "saga with a pivot" };
const SAGA_AT_MOST_ONCE: CallKind = { mode: "claimed", handler: "saga at most once" };
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
  renews: false,
  strays: 0,
};

const boundsOf = (title: string, change: Partial<Bounds>): Bounds => ({ ...SMALLEST, title, ...change });

/** Two hosts whose clocks differ by as much as `clockSkewSeconds` says. */
const APART: Partial<Bounds> = { hosts: [0, 1], graceTicks: 1 };

/** Copies of requests arrive late. */
const HELD_UP: Partial<Bounds> = { hosts: [0, 0], strays: 1, retentionTicks: 2 };
/** Workers go on after their deadline. */
const FROZEN: Partial<Bounds> = { ...APART, outlives: true };
/** Everything that a call does is done within a tick. */
const QUICK: Partial<Bounds> = { strays: 1, retentionTicks: 2, workTicks: 0 };
const ALL_MODES = [COMMIT, OPTIMISTIC, FAIL_OPEN];

export const NORMAL: readonly Bounds[] = [
  boundsOf("effects outside", { ...APART, calls: [OUTSIDE], workTicks: 2, retentionTicks: 4 }),
  boundsOf("effects outside, 3 workers", { ...APART, hosts: [0, 0, 1], calls: [OUTSIDE] }),
  boundsOf("commits, 3 workers", { ...APART, hosts: [0, 0, 1], senders: 1, retentionTicks: 2 }),
  boundsOf("commits, relay and sweeper", { ...APART, senders: 2 }),
  boundsOf("all modes", { ...APART, calls: ALL_MODES }),
  boundsOf("both modes, with a sender", {
    hosts: [0, 0],
    calls: [COMMIT, OPTIMISTIC],
    senders: 1,
    retentionTicks: 2,
  }),
  boundsOf("other payloads", { ...APART, payloads: 2 }),
  boundsOf("2 keys", { hosts: [0, 0], keys: 2, retentionTicks: 2 }),
  boundsOf("requests held up, commits", HELD_UP),
  boundsOf("requests held up, effects outside", { ...HELD_UP, calls: [OUTSIDE] }),
  boundsOf("requests held up, conditional commits", {
    strays: 1,
    retentionTicks: 2,
    calls: [CONDITIONAL],
  }),
  boundsOf("requests held up, optimistic conditional commits", {
    strays: 1,
    retentionTicks: 2,
    calls: [OPTIMISTIC_CONDITIONAL],
  }),
  boundsOf("frozen workers, conditional commits", {
    hosts: [0, 0],
    retentionTicks: 2,
    outlives: true,
    calls: [CONDITIONAL],
  }),
  boundsOf("frozen workers, effects outside", { ...FROZEN, calls: [OUTSIDE] }),
  boundsOf("frozen workers, both modes", {
    hosts: [0, 0],
    calls: [COMMIT, OPTIMISTIC],
    outlives: true,
    retentionTicks: 2,
  }),
  boundsOf("renewed leases, effects outside", { ...APART, calls: [OUTSIDE], renews: true }),
  boundsOf("renewed leases, requests held up", { ...HELD_UP, calls: [OUTSIDE], renews: true }),
  boundsOf("renewed leases, conditional commits held up", {
    strays: 1,
    retentionTicks: 2,
    calls: [CONDITIONAL],
    renews: true,
  }),
  boundsOf("renewed leases, frozen workers", {
    hosts: [0, 0],
    retentionTicks: 2,
    outlives: true,
    calls: [OUTSIDE, COMMIT],
    renews: true,
  }),
  boundsOf("effects outside, held", { ...APART, calls: [OUTSIDE], whenAbandoned: "hold" }),
  boundsOf("effects outside, verified", { ...APART, calls: [OUTSIDE], whenAbandoned: "verify" }),
  boundsOf("requests held up, effects outside, verified", {
    ...HELD_UP,
    calls: [OUTSIDE],
    whenAbandoned: "verify",
  }),
  boundsOf("frozen workers, commits, verified", { ...FROZEN, senders: 1, whenAbandoned: "verify" }),
  boundsOf("renewed leases, effects outside, verified", {
    ...APART,
    calls: [OUTSIDE],
    renews: true,
    whenAbandoned: "verify",
  }),
  boundsOf("steps", { ...APART, calls: [STEPS] }),
  boundsOf("renewed leases, steps held up", {
    strays: 1,
    retentionTicks: 2,
    calls: [STEPS],
    renews: true,
  }),
  boundsOf("renewed leases, steps, 2 workers", {
    ...APART,
    retentionTicks: 2,
    calls: [ASKED_STEPS],
    renews: true,
  }),
  boundsOf("requests held up, steps asked about", {
    strays: 1,
    retentionTicks: 2,
    calls: [ASKED_STEPS],
  }),
  boundsOf("requests held up, a saga", { ...QUICK, calls: [SAGA] }),
  boundsOf("requests held up, a saga with a pivot", { ...QUICK, calls: [PIVOT_SAGA] }),
  boundsOf("requests held up, a saga at most once", { ...QUICK, calls: [SAGA_AT_MOST_ONCE] }),
  boundsOf("a saga, 2 workers", { ...APART, calls: [SAGA] }),
  boundsOf("a saga with a pivot, 2 workers", { ...APART, calls: [PIVOT_SAGA] }),
  boundsOf("a clock behind the database's", { hosts: [-1, 0], graceTicks: 1, senders: 1 }),
  boundsOf("clocks too far apart", { hosts: [0, 2], graceTicks: 1, calls: [COMMIT, OUTSIDE] }),
];

/** The normal bounds that only `npm run verify:full` explores. */
export const LONG: ReadonlySet<string> = new Set([
  "effects outside, 3 workers",
  "commits, 3 workers",
  "both modes, with a sender",
  "2 keys",
  "renewed leases, steps, 2 workers",
  "frozen workers, both modes",
  "a saga, 2 workers",
  "a saga with a pivot, 2 workers",
]);

export const LARGE: readonly Bounds[] = [
  boundsOf("conditional commits, both modes", {
    hosts: [0, 0],
    calls: [CONDITIONAL, OPTIMISTIC_CONDITIONAL],
    retentionTicks: 2,
  }),
  boundsOf("requests held up, conditional commits, 2 workers", {
    hosts: [0, 0],
    strays: 1,
    retentionTicks: 2,
    calls: [CONDITIONAL],
  }),
  boundsOf("requests held up, conditional commits where the store may fail", {
    strays: 1,
    retentionTicks: 2,
    calls: [{ mode: "fail-open", handler: "conditional" }],
  }),
  boundsOf("commits, 3 workers, relay and sweeper", { ...APART, hosts: [0, 0, 1], senders: 2 }),
  boundsOf("commits, 3 workers, 2 keys", { hosts: [0, 0, 0], keys: 2, retentionTicks: 2 }),
  boundsOf("effects outside, 3 workers, 2 keys", { ...APART, hosts: [0, 0, 1], keys: 2, calls: [OUTSIDE] }),
  boundsOf("all modes, 3 workers", { ...APART, hosts: [0, 0, 1], calls: ALL_MODES }),
  boundsOf("both modes, 2 keys", { hosts: [0, 0], keys: 2, calls: [COMMIT, OPTIMISTIC], retentionTicks: 2 }),
  // An optimistic call counts its retention from the creation of its commit, so a copy of a claim may come after two ticks.
  boundsOf("requests held up, all modes", { ...HELD_UP, calls: ALL_MODES, retentionTicks: 3 }),
  boundsOf("requests held up, with a sender", { ...HELD_UP, senders: 1 }),
  boundsOf("requests held up, effects outside, clocks apart", {
    ...HELD_UP,
    ...APART,
    calls: [OUTSIDE],
    workTicks: 2,
    retentionTicks: 4,
  }),
  boundsOf("frozen workers, both modes, with a sender", {
    hosts: [0, 0],
    retentionTicks: 2,
    outlives: true,
    calls: [COMMIT, OPTIMISTIC],
    senders: 1,
  }),
  boundsOf("requests held up, steps, 2 workers", { ...HELD_UP, calls: [STEPS] }),
  boundsOf("requests held up, a saga, long work", { strays: 1, retentionTicks: 2, calls: [SAGA] }),
  boundsOf("requests held up, a saga, 2 workers", { ...QUICK, hosts: [0, 0], calls: [SAGA] }),
  boundsOf("frozen workers, steps asked about", { ...FROZEN, calls: [ASKED_STEPS] }),
  boundsOf("frozen workers, a saga", { hosts: [0, 0], retentionTicks: 2, outlives: true, calls: [SAGA] }),
  boundsOf("frozen workers, long work", {
    ...FROZEN,
    calls: [COMMIT, OUTSIDE],
    workTicks: 2,
    retentionTicks: 5,
  }),
];

/** Sagas with copies of their requests under way, for walks. */
export const RICH_SAGA = boundsOf("", { ...APART, calls: [SAGA], strays: 1, outlives: true });

/** Some of everything: too much to be explored, for walks. */
export const RICH = boundsOf("", {
  ...APART,
  hosts: [0, 0, 1],
  keys: 2,
  calls: [...ALL_MODES, OUTSIDE, CONDITIONAL, OPTIMISTIC_CONDITIONAL],
  senders: 2,
  payloads: 2,
  strays: 1,
});
