/** What breaks without the rules about sagas, and about the systems that they ask. */
import type { Control } from "./controls.ts";
import { PIVOT_SAGA, SAGA, SAGA_AT_MOST_ONCE } from "./suites.ts";

export const SAGA_CONTROLS: readonly Control[] = [
  {
    without: "trackedNeverExpires",
    hazards: "H53",
    bounds: { calls: [SAGA] },
    breaks: "openStays",
    trace: `
    worker 1 is called (claimed, saga, key 1)
    worker 1 claims
    worker 1 asks for "first"
    worker 1 records that "first" is done
    a tick passes
    a tick passes
    a tick passes
    a tick passes
    TTL deletes the record of key 1`,
  },
  {
    without: "turnRecorded",
    hazards: "H53",
    bounds: { calls: [SAGA] },
    breaks: "allOrNothing",
    trace: `
    worker 1 is called (claimed, saga, key 1)
    worker 1 claims
    worker 1 asks for "first"
    worker 1 records that "first" is done
    worker 1 fails at "second"
    worker 1 turns to "undo second"
    worker 1 records that "undo second" is begun
    worker 1 asks for "undo second"
    a tick passes
    a tick passes
    worker 1 is called (claimed, saga, key 1)
    worker 1 claims
    worker 1 takes over what it saw
    worker 1 asks for "second"
    worker 1 records that "second" is done
    worker 1 has done its saga
    worker 1 settles: completed`,
  },
  {
    without: "undoesUnknown",
    hazards: "H53",
    bounds: { calls: [SAGA] },
    breaks: "allOrNothing",
    trace: `
    worker 1 is called (claimed, saga, key 1)
    worker 1 claims
    worker 1 asks for "first"; the answer is lost
    worker 1 fails at "first"
    worker 1 records that "turned back" is done
    worker 1 has undone its saga
    worker 1 settles: failed`,
  },
  {
    without: "undoesReverse",
    hazards: "H53",
    bounds: { calls: [SAGA] },
    breaks: "undoneInReverse",
    trace: `
    worker 1 is called (claimed, saga, key 1)
    worker 1 claims
    worker 1 asks for "first"
    worker 1 records that "first" is done
    worker 1 asks for "second"; the answer is lost
    worker 1 fails at "second"
    worker 1 records that "turned back" is done
    worker 1 turns to "undo first"
    worker 1 records that "undo first" is begun
    worker 1 asks for "undo first"`,
  },
  {
    without: "pivotForward",
    hazards: "H53",
    bounds: { calls: [PIVOT_SAGA] },
    breaks: "pivotStays",
    trace: `
    worker 1 is called (claimed, saga with a pivot, key 1)
    worker 1 claims
    worker 1 asks for "first"
    worker 1 records that "first" is done
    worker 1 fails at "second"
    worker 1 records that "turned back" is done
    worker 1 turns to "undo second"
    worker 1 records that "undo second" is begun
    worker 1 asks for "undo second"`,
  },
  {
    without: "heldGoesOn",
    hazards: "H81",
    bounds: { calls: [SAGA_AT_MOST_ONCE] },
    breaks: "liveness",
    trace: `
    worker 1 is called (claimed, saga at most once, key 1)
    worker 1 claims
    worker 1 asks for "first"
    worker 1 records that "first" is done
    worker 1 writes down that "second" begins
    worker 1 records that "second" is begun
    worker 1 stays before "second": a retry may go on
    worker 1 settles: held`,
  },
  {
    without: "stepKey",
    hazards: "H53",
    bounds: { calls: [SAGA] },
    breaks: "onceEach",
    trace: `
    worker 1 is called (claimed, saga, key 1)
    worker 1 claims
    worker 1 asks for "first"; the answer is lost
    worker 1 asks for "first"`,
  },
  {
    without: "undoKey",
    hazards: "H53",
    bounds: { calls: [SAGA] },
    breaks: "onceEach",
    trace: `
    worker 1 is called (claimed, saga, key 1)
    worker 1 claims
    worker 1 asks for "first"; the answer is lost
    worker 1 fails at "first"
    worker 1 records that "turned back" is done
    worker 1 turns to "undo first"
    worker 1 records that "undo first" is begun
    worker 1 asks for "undo first"; the answer is lost
    worker 1 asks for "undo first"`,
  },
  {
    without: "undoneStays",
    hazards: "H65",
    bounds: { calls: [SAGA], strays: 1 },
    breaks: "lateDoesNothing",
    trace: `
    worker 1 is called (claimed, saga, key 1)
    worker 1 claims
    worker 1 asks for "first"; the answer is lost
    worker 1 asks for "first"; a copy is held up
    worker 1 fails at "first"
    worker 1 records that "turned back" is done
    worker 1 turns to "undo first"
    worker 1 records that "undo first" is begun
    worker 1 asks for "undo first"
    a copy that was held up arrives: asks for "first"`,
  },
  {
    without: "cancelStays",
    hazards: "H65",
    bounds: { calls: [SAGA], strays: 1 },
    breaks: "lateDoesNothing",
    trace: `
    worker 1 is called (claimed, saga, key 1)
    worker 1 claims
    worker 1 asks for "first"; a copy is held up
    worker 1 fails at "first"
    worker 1 records that "turned back" is done
    worker 1 turns to "undo first"
    worker 1 records that "undo first" is begun
    worker 1 asks for "undo first"
    a copy that was held up arrives: asks for "first"`,
  },
];
