/** Sends entries to one destination in as few requests as the order allows, and retries failed entries. */
import { askWithin } from "../core/answer-within.ts";
import { type Clock, type Random, systemClock } from "../core/clock.ts";
import type { SendResult } from "../core/messages/send-result.ts";

/** The most messages that SQS, SNS and EventBridge accept in a request. */
const MAX_ENTRIES = 10;

/** A message in the form that a service accepts. */
export interface Entry<Form> {
  /** The fields of the request, except the entry's id. */
  readonly form: Form;
  /** The size as the service counts it. */
  readonly bytes: number;
  /** An entry leaves only after the previous one in its line. `undefined` means that it doesn't wait. */
  readonly line: string | undefined;
}

export interface EntryEnd {
  readonly result: SendResult;
  /** Whether the same entry may succeed later, if it wasn't sent. */
  readonly mayPass?: boolean;
}

/** Sends entries in one request, until `signal` aborts; returns a result for each, in order. */
export type SendEntries<Form> = (
  forms: readonly Form[],
  signal?: AbortSignal,
) => Promise<readonly EntryEnd[]>;

export function sentAs(messageId = "", sequenceNumber = ""): EntryEnd {
  return { result: { sent: true, messageId, sequenceNumber } };
}

/** Throttling by the service or KMS may be reported as the sender's fault, but still passes. */
export function notSent(code = "NoAnswer", mayPass: boolean): EntryEnd {
  return { result: { sent: false, code: codeOf(code) }, mayPass: mayPass || /throttl/i.test(code) };
}

/** The form of error codes of services and clients. Any other text may be long or contain a secret. */
const CODE = /^[\w.$-]{1,64}$/;

function codeOf(name: unknown): string {
  return typeof name === "string" && CODE.test(name) ? name : "Error";
}

/** Why nothing is sent to a destination. The error's name becomes the code of its messages. */
export class DestinationRefused extends Error {
  override readonly name = "DestinationRefused";
}

export interface SendingRules {
  readonly maxTries: number;
  readonly clock: Clock;
  readonly random: Random;
  /** @default - 10 seconds, by the system's clock */
  readonly requestTimeoutMs?: number | undefined;
  /** Whether there is time for one more request. @default - there always is */
  readonly hasTime?: (() => boolean) | undefined;
  /** How often a request that fails as a whole is sent, not counting the client's own retries. @default - once */
  readonly requestTries?: number | undefined;
  /** Ends the request in flight; no further one starts. @default - nothing ends them */
  readonly signal?: AbortSignal | undefined;
}

/** How the sending of a message ended. */
export interface SendEnd {
  readonly result: SendResult;
  /** The client's error, if a request failed as a whole. */
  readonly cause?: unknown;
}

/** The message is after one that failed, or its request was no longer made. */
export const NOT_ATTEMPTED: SendEnd = { result: { sent: false, code: "NotAttempted" } };

/** The destination is skipped for a while. */
export const NOT_ASKED: SendEnd = { result: { ...NOT_ATTEMPTED.result } };

/** The invocation is nearly over. */
export const OUT_OF_TIME: SendEnd = { result: { sent: false, code: "OutOfTime" } };

/** How many requests in a row have to fail as a whole to open a circuit. */
const MAX_FAILURES = 2;

const REST_MS = 30_000;

/** Skips a destination for a while if it hangs, or refuses request after request. */
export class Circuit {
  #failures = 0;
  #restsUntil = 0;

  /** Nothing is sent while the circuit is open; after that, one request tests the destination. */
  isOpen(now: number): boolean {
    return now < this.#restsUntil;
  }

  fail(now: number): void {
    this.#failures += 1;
    if (this.#failures >= MAX_FAILURES) this.#restsUntil = now + REST_MS;
  }

  succeed(): void {
    this.#failures = 0;
  }
}

interface QueuedEntry<Form> {
  readonly entry: Entry<Form>;
  readonly end: (ended: SendEnd) => void;
  tries: number;
}

/** The SDK's client has no timeouts by default, and a producer has no deadline unless its caller passes a signal. */
const PATIENCE_MS = 10_000;

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5000;

/**
 * An entry that failed permanently stops its line: later entries aren't sent. A request that fails permanently as a whole
 * ends all waiting entries.
 */
export class DestinationQueue<Form> {
  readonly #lines: QueueLines<Form>;
  readonly #stopped = new Set<string | undefined>();
  readonly #request: SendEntries<Form>;
  readonly #rules: SendingRules;
  readonly #circuit: Circuit;
  #isSending = false;
  /** Requests in a row that failed as a whole. */
  #failures = 0;

  constructor(request: SendEntries<Form>, maxBytes: number, rules: SendingRules, circuit = new Circuit()) {
    this.#request = request;
    this.#lines = new QueueLines(maxBytes);
    this.#rules = rules;
    this.#circuit = circuit;
  }

  /** `end` is called once. Entries added in one turn of the event loop share requests. */
  add(entry: Entry<Form>, end: (ended: SendEnd) => void): void {
    const { hasTime = () => true } = this.#rules;
    if (!hasTime()) end(OUT_OF_TIME);
    else if (this.#stopped.has(entry.line)) end(NOT_ATTEMPTED);
    else {
      this.#lines.push({ entry, end, tries: 0 });
      if (this.#isSending) return;
      this.#isSending = true;
      queueMicrotask(() => this.#sendAll());
    }
  }

  async #sendAll(): Promise<void> {
    const { clock, hasTime = () => true, signal } = this.#rules;
    for (let heads = this.#lines.heads(); heads.length > 0; heads = this.#lines.heads()) {
      if (signal?.aborted) this.#endAll(() => ({ ...NOT_ATTEMPTED, cause: signal.reason }));
      else if (!hasTime()) this.#endAll(() => OUT_OF_TIME);
      else if (this.#circuit.isOpen(clock.now())) this.#endAll(() => NOT_ASKED);
      else await this.#send(heads);
    }
    this.#isSending = false;
  }

  async #send(heads: readonly QueuedEntry<Form>[]): Promise<void> {
    const { clock, random, requestTimeoutMs, requestTries = 1, signal } = this.#rules;
    const [patience, ms] =
      requestTimeoutMs === undefined ? [systemClock, PATIENCE_MS] : [clock, requestTimeoutMs];
    const late = () => new TimeoutError(`no response within ${Math.round(ms)} ms`);
    const forms = heads.map(({ entry }) => entry.form);
    let ends: readonly EntryEnd[];
    try {
      ends = await askWithin(patience, ms, (until) => this.#request(forms, until), late, signal);
    } catch (cause) {
      this.#circuit.fail(clock.now());
      this.#failures += 1;
      if (this.#failures < requestTries)
        return clock.sleep(delayAfter(this.#failures, random.fraction()), signal);
      this.#failures = 0;
      const failed: SendEnd = { result: { sent: false, code: codeOfError(cause) }, cause };
      return this.#endAll((queued) => (heads.includes(queued) ? failed : { ...NOT_ATTEMPTED, cause }));
    }
    this.#circuit.succeed();
    this.#failures = 0;
    const retried = heads.map((head, index) => this.#endOne(head, ends[index]!));
    const tries = Math.max(...retried);
    if (tries > 0) await clock.sleep(delayAfter(tries, random.fraction()), signal);
  }

  /** Returns the number of tries of an entry that is tried again, and 0 for one that has ended. */
  #endOne(head: QueuedEntry<Form>, { result, mayPass }: EntryEnd): number {
    head.tries += 1;
    if (!result.sent && mayPass && head.tries < this.#rules.maxTries) return head.tries;
    // The head first: its outcome decides about the entries after it.
    const ended = result.sent ? [this.#lines.advance(head)] : this.#stop(this.#lines.remove(head));
    for (const queued of ended) queued.end(queued === head ? { result } : NOT_ATTEMPTED);
    return 0;
  }

  #endAll(endOf: (queued: QueuedEntry<Form>) => SendEnd): void {
    for (const queued of this.#stop(this.#lines.clear())) queued.end(endOf(queued));
  }

  /** Later entries must not overtake these. */
  #stop(all: readonly QueuedEntry<Form>[]): readonly QueuedEntry<Form>[] {
    for (const { entry } of all) if (entry.line !== undefined) this.#stopped.add(entry.line);
    return all;
  }
}

/** AWS errors have specific names; Node's are called `Error` and have a code. */
function codeOfError(cause: unknown): string {
  const { name, code } = Object(cause) as { name?: unknown; code?: unknown };
  return codeOf(name === "Error" ? code : name);
}

/** Full jitter below a doubling bound. */
function delayAfter(tries: number, fraction: number): number {
  return fraction * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - 1));
}

/** Entries waiting to be sent. Only the head of a line may leave, which keeps the order. */
class QueueLines<Form> {
  readonly #lines = new Map<unknown, QueuedEntry<Form>[]>();
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(queued: QueuedEntry<Form>): void {
    const line = this.#lines.get(lineOf(queued));
    if (line === undefined) this.#lines.set(lineOf(queued), [queued]);
    else line.push(queued);
  }

  /**
   * The heads that fit into one request; empty if nothing waits. At most one per line, because a service may accept the
   * second of two entries and refuse the first. An entry too large for any request goes by itself, to be refused.
   */
  heads(): QueuedEntry<Form>[] {
    const heads: QueuedEntry<Form>[] = [];
    let bytes = 0;
    for (const [head] of this.#lines.values()) {
      bytes += head!.entry.bytes;
      if (heads.length === MAX_ENTRIES || (heads.length > 0 && bytes > this.#maxBytes)) break;
      heads.push(head!);
    }
    return heads;
  }

  /** Removes a head that was sent: the next entry of its line may leave. */
  advance(head: QueuedEntry<Form>): QueuedEntry<Form> {
    const line = this.#lines.get(lineOf(head))!;
    line.shift();
    if (line.length === 0) this.#lines.delete(lineOf(head));
    return head;
  }

  /** Removes a head's whole line, head first. */
  remove(head: QueuedEntry<Form>): readonly QueuedEntry<Form>[] {
    const line = this.#lines.get(lineOf(head))!;
    this.#lines.delete(lineOf(head));
    return line;
  }

  /** Removes all lines. */
  clear(): readonly QueuedEntry<Form>[] {
    const all = [...this.#lines.values()].flat();
    this.#lines.clear();
    return all;
  }
}

function lineOf(queued: QueuedEntry<unknown>): unknown {
  return queued.entry.line ?? queued;
}

/** Its name becomes the code of the messages concerned. */
class TimeoutError extends Error {
  override readonly name = "TimeoutError";
}
