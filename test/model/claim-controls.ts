/** What breaks without the rules about winning a claim: leases, expiry, fingerprints. */
import type { Control } from "./controls.ts";
import { OUTSIDE } from "./suites.ts";

export const CLAIM_CONTROLS: readonly Control[] = [
  {
    without: "claimOwn",
    hazards: "H8",
    breaks: "ownClaim",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims; the answer is lost
    worker 1 claims`,
  },
  {
    without: "freshToken",
    hazards: "H8",
    bounds: { calls: [OUTSIDE] },
    breaks: "runsExcused",
    trace: `
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    worker 1 has its effect
    worker 1 stops: it crashes, is killed, or gives up
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    worker 1 has its effect`,
  },
  {
    without: "countOn",
    hazards: "H3",
    breaks: "fencingNumber",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    a tick passes
    a tick passes
    a tick passes
    a tick passes
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    worker 1 resets the expired record`,
  },
  {
    without: "liveLease",
    hazards: "H24",
    bounds: { hosts: [0, 0], calls: [OUTSIDE] },
    breaks: "runsExcused",
    trace: `
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    worker 2 is called (claimed, outside, key 1)
    worker 2 claims
    worker 1 has its effect
    worker 2 has its effect`,
  },
  {
    without: "leaseEnd",
    hazards: "H42",
    breaks: "liveness",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    worker 1 stops: it crashes, is killed, or gives up`,
  },
  {
    without: "takeOver",
    hazards: "H42",
    breaks: "notStuck",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    a tick passes
    a tick passes
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims`,
  },
  {
    without: "graceOnLease",
    hazards: "H4",
    bounds: { hosts: [0, 1], graceTicks: 1 },
    breaks: "oneAtWork",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    a tick passes
    worker 2 is called (claimed, commit, key 1)
    worker 2 claims`,
  },
  {
    without: "fingerprint",
    hazards: "H17",
    bounds: { payloads: 2 },
    breaks: "samePayload",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    worker 1 fails for good
    worker 1 settles: failed
    worker 1 is called (claimed, commit, key 1, other payload)
    worker 1 claims`,
  },
  {
    without: "resetIfExpired",
    hazards: "H5",
    bounds: { hosts: [0, 0], outlives: true },
    breaks: "oneEffect",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    a tick passes
    a tick passes
    a tick passes
    worker 1 makes its commit
    a tick passes
    worker 2 is called (claimed, commit, key 1)
    worker 2 claims
    worker 1 settles: completed
    worker 2 resets the expired record
    worker 2 makes its commit
    worker 2 settles: completed`,
  },
  {
    without: "keepAfterAbort",
    hazards: "H42",
    bounds: { hosts: [0, 0], calls: [OUTSIDE] },
    breaks: "runsExcused",
    trace: `
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    worker 2 is called (claimed, outside, key 1)
    a tick passes
    worker 1 is aborted near its deadline, and works on
    worker 1 has its effect after the abort
    worker 2 claims
    worker 2 has its effect`,
  },
];
