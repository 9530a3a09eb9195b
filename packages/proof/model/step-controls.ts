/** What breaks without the rules about steps: what is on record, what was begun, and who may write it. */
import type { Control } from "./controls.ts";
import { ASKED_STEPS, STEPS } from "./suites.ts";

export const STEP_CONTROLS: readonly Control[] = [
  {
    without: "stepToken",
    hazards: "H25",
    bounds: { calls: [STEPS], strays: 1 },
    breaks: "tokenOnWrite",
    trace: `
    worker 1 is called (claimed, steps, key 1)
    worker 1 claims
    a tick passes
    worker 1 runs its first step
    worker 1 records that "first" is done; a copy is held up
    a tick passes
    worker 1 is called (claimed, steps, key 1)
    worker 1 claims
    worker 1 takes over what it saw
    a copy that was held up arrives: records that "first" is done`,
  },
  {
    without: "stepSeen",
    hazards: "H8",
    bounds: { calls: [STEPS], strays: 1 },
    breaks: "doneStays",
    trace: `
    worker 1 is called (claimed, steps, key 1)
    worker 1 claims
    worker 1 runs its first step
    worker 1 records that "first" is done
    worker 1 writes down that its second step begins
    worker 1 records that "second" is begun; a copy is held up
    worker 1 records that "second" is begun
    worker 1 runs its second step
    worker 1 records that "second" is done
    a copy that was held up arrives: records that "second" is begun`,
  },
  {
    without: "stepStamp",
    hazards: "H8",
    bounds: { calls: [ASKED_STEPS], strays: 1, workTicks: 0 },
    breaks: "stepAtMostOnce",
    trace: `
    worker 1 is called (claimed, asked steps, key 1)
    worker 1 claims
    worker 1 runs its first step
    worker 1 records that "first" is done
    worker 1 writes down that its second step begins
    worker 1 records that "second" is begun
    worker 1 runs its second step, which proves that nothing happened
    worker 1 records that "second" is undone; a copy is held up
    worker 1 records that "second" is undone
    worker 1 writes down that its second step begins
    worker 1 records that "second" is begun
    worker 1 runs its second step
    a copy that was held up arrives: records that "second" is undone
    a tick passes
    worker 1 is called (claimed, asked steps, key 1)
    worker 1 claims
    worker 1 takes over what it saw
    worker 1 writes down that its second step begins
    worker 1 records that "second" is begun
    worker 1 runs its second step`,
  },
  {
    without: "stepMovesLease",
    hazards: "H60",
    bounds: { calls: [STEPS], strays: 1 },
    breaks: "stepsSkipped",
    trace: `
    worker 1 is called (claimed, steps, key 1)
    worker 1 claims
    a tick passes
    worker 1 runs its first step
    worker 1 records that "first" is done; a copy is held up
    a tick passes
    worker 1 is called (claimed, steps, key 1)
    worker 1 claims
    a copy that was held up arrives: records that "first" is done
    worker 1 takes over what it saw
    worker 1 runs its first step`,
  },
  {
    without: "stepRecorded",
    hazards: "H60",
    bounds: { calls: [STEPS] },
    breaks: "stepsSkipped",
    trace: `
    worker 1 is called (claimed, steps, key 1)
    worker 1 claims
    worker 1 runs its first step
    worker 1 fails between its steps
    worker 1 settles: released
    worker 1 is called (claimed, steps, key 1)
    worker 1 claims
    worker 1 takes over what it saw
    worker 1 runs its first step`,
  },
  {
    without: "claimKeepsSteps",
    hazards: "H60",
    bounds: { calls: [STEPS] },
    breaks: "stepsSkipped",
    trace: `
    worker 1 is called (claimed, steps, key 1)
    worker 1 claims
    worker 1 runs its first step
    worker 1 records that "first" is done
    worker 1 fails between its steps
    worker 1 settles: released
    worker 1 is called (claimed, steps, key 1)
    worker 1 claims
    worker 1 takes over what it saw
    worker 1 runs its first step`,
  },
  {
    without: "stepsKeepPayload",
    hazards: "H17",
    bounds: { calls: [STEPS], payloads: 2 },
    breaks: "samePayload",
    trace: `
    worker 1 is called (claimed, steps, key 1)
    worker 1 claims
    worker 1 runs its first step
    worker 1 records that "first" is done
    worker 1 fails between its steps
    worker 1 settles: released
    worker 1 is called (claimed, steps, key 1, other payload)
    worker 1 claims
    worker 1 takes over what it saw`,
  },
  {
    without: "intentFirst",
    hazards: "H54",
    bounds: { calls: [STEPS] },
    breaks: "stepAtMostOnce",
    trace: `
    worker 1 is called (claimed, steps, key 1)
    worker 1 claims
    worker 1 runs its first step
    worker 1 records that "first" is done
    worker 1 begins its second step
    worker 1 runs its second step, which fails behind its effect
    worker 1 settles: released
    worker 1 is called (claimed, steps, key 1)
    worker 1 claims
    worker 1 takes over what it saw
    worker 1 begins its second step
    worker 1 runs its second step`,
  },
  {
    without: "interruptedAsks",
    hazards: "H54",
    bounds: { calls: [STEPS] },
    breaks: "stepAtMostOnce",
    trace: `
    worker 1 is called (claimed, steps, key 1)
    worker 1 claims
    worker 1 runs its first step
    worker 1 records that "first" is done
    worker 1 writes down that its second step begins
    worker 1 records that "second" is begun
    worker 1 runs its second step, which fails behind its effect
    worker 1 settles: held
    worker 1 is called (claimed, steps, key 1)
    worker 1 claims
    worker 1 takes over what it saw
    worker 1 begins its second step
    worker 1 runs its second step`,
  },
  {
    without: "begunNeverExpires",
    hazards: "H6",
    bounds: { calls: [STEPS] },
    breaks: "openStays",
    trace: `
    worker 1 is called (claimed, steps, key 1)
    worker 1 claims
    worker 1 runs its first step
    worker 1 records that "first" is done
    worker 1 writes down that its second step begins
    worker 1 records that "second" is begun
    a tick passes
    a tick passes
    a tick passes
    a tick passes
    TTL deletes the record of key 1`,
  },
  {
    without: "renewKeepsNever",
    hazards: "H54, H64",
    bounds: { calls: [STEPS], renews: true, strays: 1 },
    breaks: "openStays",
    trace: `
    worker 1 is called (claimed, steps, key 1)
    worker 1 claims
    worker 1 runs its first step
    worker 1 records that "first" is done
    a tick passes
    worker 1 renews its lease; a copy is held up
    worker 1 writes down that its second step begins
    worker 1 records that "second" is begun; the answer is lost
    a copy that was held up arrives: renews its lease
    a tick passes
    a tick passes
    a tick passes
    a tick passes
    TTL deletes the record of key 1`,
  },
];
