/** What breaks without the rules about the answers of attempts that recorded nothing, and about refused commits. */
import type { Control } from "./controls.ts";
import { COMMIT, CONDITIONAL, OPTIMISTIC_CONDITIONAL, OUTSIDE } from "./suites.ts";

export const ANSWER_CONTROLS: readonly Control[] = [
  {
    without: "lookAtTheEnd",
    hazards: "H14",
    bounds: { calls: [OPTIMISTIC_CONDITIONAL] },
    breaks: "onlyAnswer",
    trace: `
    worker 1 is called (optimistic, conditional, key 1)
    worker 1 looks, and sees no record: there is none, the read is stale, or it does not look
    worker 1 makes its commit
    worker 1 inserts: completed
    worker 1 is called (optimistic, conditional, key 1)
    worker 1 looks, and sees no record: there is none, the read is stale, or it does not look
    worker 1 finds the row there, and returns that`,
  },
  {
    without: "lookAfterAbort",
    hazards: "H43",
    bounds: { hosts: [0, 0], calls: [OUTSIDE, COMMIT], outlives: true },
    breaks: "onlyAnswer",
    trace: `
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    a tick passes
    worker 2 is called (claimed, commit, key 1)
    a tick passes
    worker 2 claims
    worker 2 takes over what it saw
    worker 2 makes its commit
    worker 2 settles: completed
    worker 1 is aborted near its deadline, and works on`,
  },
  {
    without: "winnerAnswers",
    hazards: "H1",
    bounds: { hosts: [0, 0], outlives: true },
    breaks: "onlyAnswer",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    a tick passes
    worker 2 is called (claimed, commit, key 1)
    a tick passes
    worker 1 fails before its effect
    worker 2 claims
    worker 2 takes over what it saw
    worker 2 makes its commit
    worker 2 settles: completed
    worker 1 settles: released`,
  },
  {
    without: "lostValue",
    hazards: "H1",
    bounds: { hosts: [0, 0], calls: [CONDITIONAL], outlives: true },
    breaks: "holderAnswers",
    trace: `
    worker 1 is called (claimed, conditional, key 1)
    worker 1 claims
    somebody inserts the row
    a tick passes
    worker 2 is called (claimed, conditional, key 1)
    a tick passes
    worker 1 finds the row there, and returns that
    worker 2 claims
    worker 2 takes over what it saw
    worker 1 settles: released`,
  },
  {
    without: "liveAnswer",
    hazards: "H43",
    bounds: { hosts: [0, 0], outlives: true },
    breaks: "onlyAnswer",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    a tick passes
    worker 2 is called (claimed, commit, key 1)
    a tick passes
    worker 1 fails before its effect
    worker 2 claims
    worker 2 takes over what it saw
    worker 2 makes its commit
    worker 2 settles: completed
    worker 1 cannot reach the store, and gives its own answer`,
  },
  {
    without: "fence",
    hazards: "H8",
    bounds: { calls: [OPTIMISTIC_CONDITIONAL], strays: 1 },
    breaks: "refusedStays",
    trace: `
    worker 1 is called (optimistic, conditional, key 1)
    worker 1 looks, and sees no record: there is none, the read is stale, or it does not look
    worker 1 makes its commit
    worker 1 inserts: completed; a copy is held up
    somebody inserts the row
    worker 1 inserts: completed
    somebody deletes the row
    a copy that was held up arrives: inserts: completed`,
  },
  {
    without: "fence",
    hazards: "H8",
    bounds: { calls: [CONDITIONAL], strays: 1 },
    breaks: "refusedStays",
    trace: `
    worker 1 is called (claimed, conditional, key 1)
    worker 1 claims
    worker 1 makes its commit
    worker 1 settles: completed; a copy is held up
    somebody inserts the row
    worker 1 settles: completed
    somebody deletes the row
    a copy that was held up arrives: settles: completed`,
  },
  {
    without: "fenceToken",
    hazards: "H8",
    bounds: { calls: [CONDITIONAL], strays: 1 },
    breaks: "refusedStays",
    trace: `
    worker 1 is called (claimed, conditional, key 1)
    worker 1 claims
    worker 1 makes its commit
    worker 1 settles: completed; a copy is held up
    somebody inserts the row
    worker 1 settles: completed
    worker 1 fences its refused commit
    somebody deletes the row
    a copy that was held up arrives: settles: completed`,
  },
  {
    without: "fenceSees",
    hazards: "H8",
    bounds: { calls: [OPTIMISTIC_CONDITIONAL], strays: 1 },
    breaks: "finishedStays",
    trace: `
    worker 1 is called (optimistic, conditional, key 1)
    worker 1 looks, and sees no record: there is none, the read is stale, or it does not look
    worker 1 makes its commit
    worker 1 inserts: completed; a copy is held up
    somebody inserts the row
    worker 1 inserts: completed
    somebody deletes the row
    a copy that was held up arrives: inserts: completed
    worker 1 fences its refused commit
    worker 1 fences its refused commit`,
  },
  {
    without: "fenceRaces",
    hazards: "H11",
    bounds: { calls: [OPTIMISTIC_CONDITIONAL], strays: 1, retentionTicks: 2 },
    breaks: "refusedStays",
    trace: `
    worker 1 is called (optimistic, conditional, key 1)
    worker 1 looks, and sees no record: there is none, the read is stale, or it does not look
    worker 1 makes its commit
    worker 1 inserts: completed
    a tick passes
    worker 1 is called (optimistic, conditional, key 1)
    worker 1 looks, and sees no record: there is none, the read is stale, or it does not look
    worker 1 makes its commit
    worker 1 inserts: completed; a copy is held up
    a tick passes
    worker 1 inserts: completed
    worker 1 inserts: completed, over what it saw
    somebody deletes the row
    TTL deletes the record of key 1
    a copy that was held up arrives: inserts: completed`,
  },
];
