/** What breaks without the rules about what an attempt leaves behind: results, releases, messages. */
import type { Control } from "./controls.ts";
import { OPTIMISTIC, OUTSIDE } from "./suites.ts";

export const OUTCOME_CONTROLS: readonly Control[] = [
  {
    without: "settleToken",
    hazards: "H1",
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
    worker 2 takes over what it saw
    worker 1 settles: completed; the answer is lost
    worker 1 settles: completed`,
  },
  {
    without: "settleToken",
    hazards: "H2",
    bounds: { hosts: [0, 0], outlives: true },
    breaks: "finishedStays",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    worker 1 fails before its effect
    worker 1 settles: released; the answer is lost
    worker 2 is called (claimed, commit, key 1)
    worker 2 claims
    worker 2 takes over what it saw
    worker 2 makes its commit
    worker 2 settles: completed
    worker 1 settles: released`,
  },
  {
    without: "settleToken",
    hazards: "H1",
    bounds: { hosts: [0, 0], outlives: true },
    breaks: "firstAnswer",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    a tick passes
    worker 1 makes its commit
    worker 2 is called (claimed, commit, key 1)
    a tick passes
    worker 2 claims
    worker 2 takes over what it saw
    worker 1 settles: completed
    worker 2 fails for good
    worker 2 settles: failed`,
  },
  {
    without: "settleToken",
    hazards: "H1",
    bounds: { hosts: [0, 0] },
    breaks: "tokenOnWrite",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    worker 1 fails before its effect
    worker 1 settles: released; the answer is lost
    worker 2 is called (claimed, commit, key 1)
    worker 2 claims
    worker 2 takes over what it saw
    worker 1 settles: released`,
  },
  {
    without: "releaseKeepsRecord",
    hazards: "H3",
    breaks: "fencingNumber",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    worker 1 fails before its effect
    worker 1 settles: released
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims`,
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
    worker 2 takes over what it saw
    worker 2 has its effect`,
  },
  {
    without: "keepAfterLoss",
    hazards: "H7",
    bounds: { calls: [OUTSIDE] },
    breaks: "runsExcused",
    trace: `
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    worker 1 has its effect
    worker 1 gives up its completion, and releases
    worker 1 settles: released
    worker 1 is called (claimed, outside, key 1)
    worker 1 claims
    worker 1 takes over what it saw
    worker 1 has its effect`,
  },
  {
    without: "insertCondition",
    hazards: "H14",
    bounds: { calls: [OPTIMISTIC] },
    breaks: "oneEffect",
    trace: `
    worker 1 is called (optimistic, commit, key 1)
    worker 1 looks, and sees no record: there is none, the read is stale, or it does not look
    worker 1 makes its commit
    worker 1 inserts: completed
    worker 1 is called (optimistic, commit, key 1)
    worker 1 looks, and sees no record: there is none, the read is stale, or it does not look
    worker 1 makes its commit
    worker 1 inserts: completed`,
  },
  {
    without: "insertCondition",
    hazards: "H14",
    bounds: { calls: [OPTIMISTIC] },
    breaks: "legalMove",
    trace: `
    worker 1 is called (optimistic, commit, key 1)
    worker 1 looks, and sees no record: there is none, the read is stale, or it does not look
    worker 1 makes its commit
    worker 1 inserts: completed
    worker 1 is called (optimistic, commit, key 1)
    worker 1 looks, and sees no record: there is none, the read is stale, or it does not look
    worker 1 makes its commit
    worker 1 inserts: completed`,
  },
  {
    without: "messagesInCommit",
    hazards: "H36",
    bounds: { senders: 1 },
    breaks: "messagesCommitted",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    worker 1 stores its messages ahead of the commit
    sender 1 loads the messages of key 1
    sender 1 sends the messages of key 1`,
  },
  {
    without: "unsentNeverExpires",
    hazards: "H34",
    bounds: { senders: 1 },
    breaks: "unsentStays",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    worker 1 makes its commit
    worker 1 settles: completed
    a tick passes
    a tick passes
    a tick passes
    TTL deletes the record of key 1`,
  },
  {
    without: "sendBeforeMark",
    hazards: "H33",
    bounds: { senders: 1 },
    breaks: "messagesSent",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    worker 1 makes its commit
    worker 1 settles: completed
    sender 1 loads the messages of key 1
    sender 1 marks key 1 as sent`,
  },
  {
    without: "markToken",
    hazards: "H33",
    bounds: { senders: 1 },
    breaks: "messagesSent",
    trace: `
    worker 1 is called (claimed, commit, key 1)
    worker 1 claims
    worker 1 makes its commit
    worker 1 settles: completed
    sender 1 loads the messages of key 1
    sender 1 sends the messages of key 1
    sender 1 marks key 1 as sent; the answer is lost
    a tick passes
    a tick passes
    worker 1 is called (claimed, commit, key 1)
    a tick passes
    worker 1 claims
    worker 1 takes over what it saw
    worker 1 makes its commit
    worker 1 settles: completed
    sender 1 marks key 1 as sent`,
  },
];
