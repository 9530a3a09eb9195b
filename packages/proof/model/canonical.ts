/**
 * A state as a short string, the same for states that differ in names only. Tokens are numbered in the order in which they
 * are met, workers on equal hosts and senders are sorted, and two keys may change places.
 */
import { STATES } from "../../../lib/core/record.ts";
import { HANDLERS, hasSteps, type Model } from "./bounds.ts";
import { EFFECTS, isSameMark, MARK_STATES, MARKS, type Marks } from "./marks.ts";
import {
  type ModelRecord,
  type ModelState,
  NO_TOKEN,
  type Phase,
  type Sender,
  type Slot,
  type Token,
  type Worker,
} from "./state.ts";

const PHASES: readonly Phase[] = [
  "idle",
  "look",
  "claim",
  "run",
  "settle",
  "insert",
  "fence",
  "check",
  "orphan",
  "renew",
  "verify",
  "mark",
  "ask",
];
const MODES: readonly Worker["mode"][] = ["claimed", "optimistic", "fail-open"];
const ENDS: readonly Worker["to"][] = ["completed", "failed", "released", "held"];
const SENDER_PHASES: readonly Sender["phase"][] = ["idle", "send", "mark"];

/** Makes times that lie in the past into characters. */
const SHIFT = 40;

/** A token that only a worker and a copy of its request know. */
const HELD_UP = 200;

export function canonical(state: ModelState, { hosts }: Model): string {
  const [one, other] = state.slots.map((slot) => slotCode(slot, () => 0));
  if (other === undefined || (one as string) < other) return encode(state, 0, hosts);
  if ((one as string) > other) return encode(state, 1, hosts);
  return [encode(state, 0, hosts), encode(state, 1, hosts)].sort()[0] as string;
}

/** All that is in the state, beginning with the slot `first`. */
function encode(
  { slots, workers, strays, senders }: ModelState,
  first: number,
  hosts: readonly number[],
): string {
  const names: Token[] = [NO_TOKEN];
  const nameOf = (token: Token) => {
    const at = names.indexOf(token);
    return at === -1 ? names.push(token) - 1 : at;
  };
  const placeOf = (key: number) => key ^ first;

  let code = "";
  for (let place = 0; place < slots.length; place++) code += slotCode(slots[placeOf(place)] as Slot, nameOf);
  // Sorted by everything but the tokens that no record has: those get their names afterwards.
  const recorded = names.length;
  const held = strays.map(({ worker }) => worker.token);
  const codeOf = (token: Token) =>
    names.lastIndexOf(token, recorded - 1) + 1 || (held.includes(token) ? HELD_UP : 0);
  const requestCode = (worker: Worker, host: number, isSpent = false): Coded => {
    const seen = seenCode(worker, slots[worker.key] as Slot);
    const own = workerCode(worker, placeOf(worker.key), host, isSpent, slots[worker.key]?.record) + seen;
    const tokens = [worker.token, worker.former];
    return [own + String.fromCharCode(...tokens.map(codeOf)), tokens];
  };
  const atWork = workers.map((worker, index) => requestCode(worker, hosts[index] as number));
  const onTheirWay = strays.map(({ worker, host, isSpent }) => requestCode(worker, host, isSpent));
  const sending = senders.map((sender): Coded => {
    const what = sender.phase === "idle" ? 0 : SENDER_PHASES.indexOf(sender.phase) * 2 + placeOf(sender.key);
    return [String.fromCharCode(what, codeOf(sender.token)), [sender.token]];
  });
  // The number of workers and senders is constant, so the first and last stray can be found.
  for (const group of [atWork, sending, onTheirWay]) {
    for (const [own, tokens] of group.sort(byCode)) code += own + String.fromCharCode(...tokens.map(nameOf));
  }
  return code;
}

type Coded = readonly [own: string, tokens: readonly Token[]];

const byCode = ([one]: Coded, [other]: Coded) => (one < other ? -1 : one > other ? 1 : 0);

function slotCode({ record, history, isTaken }: Slot, nameOf: (token: Token) => number): string {
  // Which number an attempt has means nothing, but that it is the highest.
  const isBehind = (record?.attempt ?? 0) !== history.attempts;
  const flags = [record !== undefined, history.ran, isBehind, history.delivered, isTaken];
  const past = String.fromCharCode(
    flags.reduce((bits, flag) => bits * 2 + (flag ? 1 : 0), history.protectedFor),
    nameOf(history.firstAnswer),
    history.effects.reduce((code, effect) => code * EFFECTS.length + EFFECTS.indexOf(effect), 0),
    MARKS.reduce((code, name) => code * 2 + (history.passed.includes(name) ? 1 : 0), 0),
  );
  if (!record) return past;
  return (
    past +
    String.fromCharCode(
      STATES.indexOf(record.state) * 2 + record.payload,
      nameOf(record.token),
      nameOf(record.result),
      record.leaseEndsIn + SHIFT,
      record.expiresIn + SHIFT,
      record.expiresOnceSentIn + SHIFT,
    ) +
    marksCode(record.marks)
  );
}

function workerCode(
  worker: Worker,
  place: number,
  host: number,
  isSpent: boolean,
  record: ModelRecord | undefined,
): string {
  if (worker.phase === "idle") return String.fromCharCode(host * 2);
  const { phase, mode, to, handler, payload, left, age, returns, isRepeated, wasRefused, endedLive } = worker;
  const what = (PHASES.indexOf(phase) * 3 + MODES.indexOf(mode)) * 4 + ENDS.indexOf(to);
  const flags = [payload === 1, place === 1, returns, isRepeated, wasRefused, endedLive, isSpent];
  const kind = flags.reduce((bits, flag) => bits * 2 + (flag ? 1 : 0), what);
  const own = String.fromCharCode(
    host * 2 + 1,
    kind,
    left + SHIFT,
    age * HANDLERS.length + HANDLERS.indexOf(handler),
  );
  return hasSteps(handler) || phase === "ask" ? own + stepCode(worker, record) : own;
}

/** A worker's knowledge and actions about steps. A mark that is no longer on record never comes back. */
function stepCode({ marks, step, write }: Worker, record: ModelRecord | undefined): string {
  const there = step && record?.marks[step];
  const isCurrent = MARKS.every((name) => isSameMark(marks[name], record?.marks[name]));
  const flags = [isCurrent, write && isSameMark(there, write.mark), write && isSameMark(there, write.seen)];
  const at = step === undefined ? MARKS.length : MARKS.indexOf(step);
  const about = at * 4 + (write ? MARK_STATES.indexOf(write.mark.state) + 1 : 0);
  const count = write?.mark.count ?? 0;
  return (
    marksCode(marks) +
    String.fromCharCode(flags.reduce((bits, flag) => bits * 2 + (flag ? 1 : 0), about * 4 + count))
  );
}

const marksCode = (marks: Marks): string =>
  String.fromCharCode(
    MARKS.reduce((code, name) => {
      const mark = marks[name];
      return code * 4 + (mark ? MARK_STATES.indexOf(mark.state) + 1 : 0);
    }, marks["turned back"]?.count ?? 0),
  );

/** A token claims once, and no lease is shortened, so a record that was seen is either unchanged or never seen again. */
function seenCode({ seen }: Worker, { record }: Slot): string {
  if (!seen) return "0";
  const isThere =
    record?.token === seen.token && record.state === seen.state && record.leaseEndsIn === seen.leaseEndsIn;
  if (isThere && record.writes !== seen.writes) return "4";
  return isThere ? (seen.isExpired ? "3" : "2") : "1";
}
