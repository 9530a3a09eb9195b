/** What breaks without the rules about attempts of unknown outcome, where keys may be held. */
import type { Control } from "./controls.ts";
import { OUTSIDE } from "./suites.ts";

const HOLD = { calls: [OUTSIDE], whenAbandoned: "hold" } as const;
const VERIFY = { calls: [OUTSIDE], whenAbandoned: "verify" } as const;

export const HELD_CONTROLS: readonly Control[] = [
  {
    without: "abandonedAsks",
    hazards: "H42",
    bounds: VERIFY,
    breaks: "runsExcused",
    trace: `
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    worker 1 has its effect, and does not know it
    worker 1 settles: held
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    worker 1 takes over what it saw
    worker 1 has its effect`,
  },
  {
    without: "heldRefuses",
    hazards: "H42",
    bounds: HOLD,
    breaks: "runsExcused",
    trace: `
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    worker 1 has its effect, and does not know it
    worker 1 settles: held
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    worker 1 takes over what it saw
    worker 1 has its effect`,
  },
  {
    without: "openNeverExpires",
    hazards: "H6",
    bounds: HOLD,
    breaks: "openStays",
    trace: `
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    a tick passes
    a tick passes
    a tick passes
    a tick passes
    TTL deletes the record of key 1`,
  },
  {
    without: "openKeepsClaim",
    hazards: "H42",
    bounds: VERIFY,
    breaks: "runsExcused",
    trace: `
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    worker 1 has its effect, and does not know it
    worker 1 settles: held
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    worker 1 takes over what it saw
    worker 1 has no time left, and gives the key back
    worker 1 settles: released
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    worker 1 takes over what it saw
    worker 1 has its effect`,
  },
  {
    without: "unknownHolds",
    hazards: "H42",
    bounds: HOLD,
    breaks: "runsExcused",
    trace: `
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    worker 1 has its effect, and does not know it
    worker 1 settles: released
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    worker 1 takes over what it saw
    worker 1 has its effect`,
  },
];
