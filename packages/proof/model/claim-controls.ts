/** What breaks without the rules about winning a claim: leases, expiry, fingerprints, what was seen. */
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
    without: "insertOnly",
    hazards: "H8",
    bounds: { strays: 1 },
    breaks: "claimsOnce",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims; a copy is held up
    worker 1 claims
    worker 1 fails before its effect
    worker 1 settles: released
    a copy that was held up arrives: claims`,
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
    without: "timelyClaim",
    hazards: "H43",
    bounds: { hosts: [0, 0], outlives: true },
    breaks: "fencingNumber",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims; the answer is lost
    worker 2 is called (claimed, commit, key 1)
    a tick passes
    worker 2 claims, is refused, and waits for the winner
    a tick passes
    worker 1 is called (claimed, commit, key 1)
    worker 2 claims
    a tick passes
    worker 1 claims
    worker 1 takes over what it saw; the answer is lost
    worker 2 takes over what it saw, is refused, and waits for the winner
    a tick passes
    worker 2 claims
    worker 2 takes over what it saw; the answer is lost
    worker 1 takes over what it saw
    worker 1 takes over what it saw; the answer is lost
    worker 2 takes over what it saw`,
  },
  {
    without: "countOn",
    hazards: "H3",
    breaks: "fencingNumber",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    worker 1 fails before its effect
    worker 1 settles: released
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    worker 1 takes over what it saw`,
  },
  {
    without: "seenToken",
    hazards: "H3",
    bounds: { hosts: [0, 0] },
    breaks: "fencingNumber",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    worker 1 fails before its effect
    worker 1 settles: released
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    worker 2 is called (claimed, commit, key 1)
    worker 2 claims
    worker 1 takes over what it saw
    worker 1 fails before its effect
    worker 1 settles: released
    worker 2 takes over what it saw`,
  },
  {
    without: "seenState",
    hazards: "H5",
    bounds: { hosts: [0, 0], outlives: true },
    breaks: "oneEffect",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    a tick passes
    worker 1 makes its commit
    worker 2 is called (claimed, commit, key 1)
    a tick passes
    worker 2 claims
    worker 1 settles: completed
    worker 2 takes over what it saw
    worker 2 makes its commit
    worker 2 settles: completed`,
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
    worker 2 takes over what it saw
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
    worker 2 is called (claimed, commit, key 1)
    a tick passes
    worker 2 claims
    worker 2 takes over what it saw`,
  },
  {
    without: "fingerprint",
    hazards: "H17",
    bounds: { payloads: 2 },
    breaks: "samePayload",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    worker 1 makes its commit
    worker 1 settles: completed
    worker 1 is called (claimed, commit, key 1, other payload)
    worker 1 claims`,
  },
  {
    without: "renewToken",
    hazards: "H61",
    bounds: { hosts: [0, 0], renews: true, strays: 1 },
    breaks: "tokenOnWrite",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    a tick passes
    worker 1 renews its lease; a copy is held up
    worker 2 is called (claimed, commit, key 1)
    a tick passes
    worker 2 claims
    worker 2 takes over what it saw
    a copy that was held up arrives: renews its lease`,
  },
  {
    without: "renewState",
    hazards: "H61",
    bounds: { renews: true, strays: 1 },
    breaks: "finishedStays",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    a tick passes
    worker 1 renews its lease; a copy is held up
    worker 1 makes its commit
    worker 1 settles: completed
    a copy that was held up arrives: renews its lease`,
  },
  {
    without: "renewForward",
    hazards: "H64",
    bounds: { hosts: [0, 0], calls: [OUTSIDE], renews: true, strays: 1 },
    breaks: "oneAtWork",
    trace: `
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    a tick passes
    worker 1 renews its lease; a copy is held up
    worker 1 renews its lease
    a tick passes
    worker 1 renews its lease
    worker 2 is called (claimed, outside, key 1)
    a copy that was held up arrives: renews its lease
    a tick passes
    worker 2 claims
    worker 2 takes over what it saw`,
  },
  {
    without: "renewAnswered",
    hazards: "H64",
    bounds: { hosts: [0, 0], calls: [OUTSIDE], renews: true },
    breaks: "oneAtWork",
    trace: `
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    a tick passes
    worker 1 renews its lease; nothing arrives, and it goes on all the same
    worker 2 is called (claimed, outside, key 1)
    a tick passes
    worker 2 claims
    worker 2 takes over what it saw`,
  },
  {
    without: "stopUnrenewed",
    hazards: "H61",
    bounds: { hosts: [0, 0], calls: [OUTSIDE], renews: true },
    breaks: "runsExcused",
    trace: `
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    a tick passes
    worker 2 is called (claimed, outside, key 1)
    a tick passes
    worker 2 claims
    worker 2 takes over what it saw
    worker 1 has its effect
    worker 2 has its effect`,
  },
];
