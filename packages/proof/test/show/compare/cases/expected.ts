// What onceonly must do in each scenario of the comparison, in the words of the hazards list; the scenarios themselves are
// in packages/proof/show/compare.
import type { AdapterName } from "../../../../show/compare/lab.ts";
import type { Seen } from "../../../../show/compare/seen.ts";

export interface Expected {
  readonly title: string;
  /** The result of both adapters, or of each adapter. */
  readonly seen: Seen | Readonly<Record<AdapterName, Seen>>;
}

const MEGABYTE = (start: string, more: number) => `{ text: '${start}'... ${more} more characters }`;
const REPORT = MEGABYTE("one more l", 999_976);

const seen = (effects: number, ...answers: string[]): Seen => ({ effects, answers });

/** By the scenario's name. */
export const EXPECTED: Readonly<Record<string, Expected>> = {
  retry: { title: "replays the first answer", seen: seen(1, "order 1", "order 1") },
  "other payload": {
    title: "refuses another payload under the same key",
    seen: seen(1, "order 1", "throws FingerprintMismatchError"),
  },
  duplicates: {
    title: "H2: refuses every duplicate while the first call is running",
    seen: seen(1, "order 1", "throws ExecutionInProgressError", "throws ExecutionInProgressError", "order 1"),
  },
  expired: {
    title: "H5: runs again when a record has expired and TTL is late",
    seen: seen(2, "order 1", "order 2"),
  },
  "answer of the claim lost": {
    title: "H8: run A: wins its own claim when the response to it was lost",
    seen: seen(1, "order 1", "order 1"),
  },
  "answer of the completion lost": {
    title: "H8: treats its own completion as done when the response to it was lost",
    seen: seen(1, "order 1", "order 1"),
  },
  "answer of the release lost": {
    title: "H8: lets a retry run when the response to the release was lost",
    seen: seen(1, "throws TypeError", "order 1"),
  },
  "completion throttled": {
    title: "H7: run D: repeats a completion that is throttled beyond the SDK's retries",
    seen: seen(1, "order 1", "order 1", "order 1"),
  },
  "commit refused": {
    title: "H7: run D: leaves no trace of a commit that cannot be written until the deadline",
    seen: seen(1, "throws StoreUnavailableError", "throws ExecutionInProgressError", "order 2"),
  },
  "completion lost": {
    // At least once with a fence: no store can undo an effect that happened elsewhere.
    title:
      "H3: H7: beyond run D: answers, and lets no call run before the lease ends, if an outside effect stays unrecorded",
    seen: seen(2, "order 1", "throws ExecutionInProgressError", "order 2"),
  },
  "release throttled": {
    title: "H7: throws the handler's own error when the release fails too",
    seen: seen(1, "throws TypeError", "order 1"),
  },
  "claim throttled": {
    title: "H13: runs nothing without a claim",
    seen: seen(1, "throws StoreUnavailableError", "order 1"),
  },
  "zombie completes": {
    title: "H1: run B: gives a zombie that completes the winner's result, and every later call too",
    seen: seen(2, "order 2", "order 2", "order 2"),
  },
  "zombie fails": {
    title: "H2: run C: keeps the winner's record when a zombie fails late, and answers with it",
    seen: seen(2, "order 2", "order 2", "order 2"),
  },
  "skewed clocks": {
    title: "H4: keeps a live lease from a host whose clock is ahead",
    seen: seen(1, "order 1", "throws ExecutionInProgressError", "order 1"),
  },
  dies: {
    title: "H42: lets a retry run when the lease of a process that died has ended",
    seen: seen(1, "throws ExecutionInProgressError", "order 1"),
  },
  "Middy's early timeout": {
    title: "H42: releases nothing at Middy's early timeout",
    seen: {
      wrapper: seen(1, "throws TimeoutError", "throws ExecutionInProgressError", "order 1"),
      // Middy informs a middleware of the timeout and never of the handler's result.
      middleware: seen(2, "throws TimeoutError", "throws ExecutionInProgressError", "order 2"),
    },
  },
  "dies without a context": {
    title: "H42: refuses to claim without a lease",
    seen: seen(0, "throws InvalidOptionError", "throws InvalidOptionError", "throws InvalidOptionError"),
  },
  "1 MB of text": {
    title: "H15: replays a result of 1 MB that compresses",
    seen: seen(1, REPORT, REPORT, REPORT),
  },
  "1 MB of noise": {
    title: "H15: keeps the fact if it cannot keep the result",
    seen: seen(1, MEGABYTE("sKNuLDNjTq", 999_990), "throws ResultNotKeptError", "throws ResultNotKeptError"),
  },
  "a date": {
    title: "H16: refuses a Date to the first caller as to the next, and runs once",
    seen: seen(1, "throws ResponseNotStorableError", "throws ResponseNotStorableError"),
  },
  "a big integer": {
    title: "H16: refuses a BigInt to the first caller as to the next, and runs once",
    seen: seen(1, "throws ResponseNotStorableError", "throws ResponseNotStorableError"),
  },
  "no result": { title: "H16: replays that there is no result", seen: seen(1, "undefined", "undefined") },
  "big integers in events": {
    title: "H17: run E: refuses events whose integers may have lost digits",
    seen: seen(0, "throws PayloadInvalidError", "throws PayloadInvalidError"),
  },
  "big integers in bodies": {
    title: "H17: run E: distinguishes HTTP bodies by their bytes",
    seen: seen(1, "201 order 1", "422"),
  },
  "key order in events": {
    title: "H17: treats events whose properties come in another order as the same",
    seen: seen(1, "order 1", "order 1"),
  },
  "body serialized again": {
    title: "H17: treats a body that was serialized again as a different one",
    seen: seen(1, "201 order 1", "422"),
  },
  "deep payload": {
    title: "H18: refuses a payload that is too deep, with an error that says so",
    seen: seen(1, "throws PayloadInvalidError", "order 1"),
  },
  "missing key": {
    title: "H23: refuses an event without a key",
    seen: seen(0, "throws IdempotencyKeyMissingError", "throws IdempotencyKeyMissingError"),
  },
  "two operations": {
    title: "H19: H52: runs each operation once under one key",
    seen: seen(2, "order 1", "order 2", "order 1"),
  },
  "two callers": {
    title: "H21: gives each caller its own answer under one key",
    seen: seen(2, "201 order 1", "201 order 2", "201 order 1"),
  },
  delimiters: {
    title: "H20: distinguishes callers and keys that look alike when joined",
    seen: seen(2, "201 order 1", "201 order 2"),
  },
  "changed event": {
    title: "H49: replays to a caller whose event the handler changed",
    seen: seen(1, "order 1", "order 1"),
  },
  "body parser": {
    title: "H49: replays when a body parser comes after it",
    seen: seen(1, "201 order 1", "201 order 1"),
  },
  "503 answer": {
    title: "H50: lets a retry run after an answer that is not final",
    seen: seen(1, "503", "201 order 1", "201 order 1"),
  },
};
