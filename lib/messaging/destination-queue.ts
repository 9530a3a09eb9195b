/** Sends entries to one destination in as few requests as the order allows, and failed entries again. */
import type { Clock, Random } from "../core/clock.ts";
import type { SendResult } from "../core/errors.ts";
import { Circuit } from "./circuit.ts";
import { codeOf, type Entry, type EntryEnd, MAX_ENTRIES, type Request } from "./entry.ts";
import { withinTime } from "./within-time.ts";

export interface SendingRules {
  readonly maxTries: number;
  readonly clock: Clock;
  readonly random: Random;
  /** @default - as long as the client allows */
  readonly requestTimeoutMs?: number | undefined;
  /** Whether there is time for one more request. @default - there always is */
  readonly hasTime?: (() => boolean) | undefined;
  /** How often a request is made that fails as a whole, beyond the tries of the client. @default - once */
  readonly requestTries?: number | undefined;
}

/** What became of an entry. */
export interface Ended {
  readonly result: SendResult;
  /** What the client threw for a request as a whole. */
  readonly cause?: unknown;
}

/** Behind one that failed, or in a request that was not made any more. */
export const NOT_ATTEMPTED: Ended = { result: { sent: false, code: "NotAttempted" } };

/** For a destination that is left alone for a while. */
export const NOT_ASKED: Ended = { result: { ...NOT_ATTEMPTED.result } };

/** What is before it comes to its end in a moment. */
export const ON_HOLD: Ended = { result: { sent: false, code: "OnHold" } };

/** The invocation is nearly over. */
export const OUT_OF_TIME: Ended = { result: { sent: false, code: "OutOfTime" } };

/** No destination can take it: it is not asked. */
export const INVALID: Ended = { result: { sent: false, code: "MessageInvalid" } };

/** It says what this version does not know. */
export const UNKNOWN: Ended = { result: { sent: false, code: "MessageUnknown" } };

interface Waiting<Form> {
  readonly entry: Entry<Form>;
  readonly end: (ended: Ended) => void;
  tries: number;
}

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5000;

/**
 * An entry that failed for good stops its line: what is behind it, or comes later, is not sent. A request that fails as a
 * whole for good ends all that wait.
 */
export class DestinationQueue<Form> {
  readonly #lines: GroupLines<Form>;
  readonly #stopped = new Set<string>();
  readonly #request: Request<Form>;
  readonly #rules: SendingRules;
  readonly #circuit: Circuit;
  #isSending = false;
  /** Requests in a row that failed as a whole. */
  #failures = 0;

  constructor(request: Request<Form>, maxBytes: number, rules: SendingRules, circuit = new Circuit()) {
    this.#request = request;
    this.#lines = new GroupLines(maxBytes);
    this.#rules = rules;
    this.#circuit = circuit;
  }

  /** `end` is called once. What is added in one turn of the event loop goes into the same requests. */
  add(entry: Entry<Form>, end: (ended: Ended) => void): void {
    const { hasTime = () => true } = this.#rules;
    const isStopped = entry.line !== undefined && this.#stopped.has(entry.line);
    if (!hasTime() || isStopped) {
      end(hasTime() ? NOT_ATTEMPTED : OUT_OF_TIME);
      return;
    }
    this.#lines.push({ entry, end, tries: 0 });
    if (this.#isSending) return;
    this.#isSending = true;
    queueMicrotask(() => this.#sendAll());
  }

  async #sendAll(): Promise<void> {
    const { clock, hasTime = () => true } = this.#rules;
    for (let heads = this.#lines.heads(); heads.length > 0; heads = this.#lines.heads()) {
      if (!hasTime()) this.#endAll(() => OUT_OF_TIME);
      else if (this.#circuit.isOpen(clock.now())) this.#endAll(() => NOT_ASKED);
      else await this.#send(heads);
    }
    this.#isSending = false;
  }

  async #send(heads: readonly Waiting<Form>[]): Promise<void> {
    const { clock, random, requestTimeoutMs, requestTries = 1 } = this.#rules;
    const forms = heads.map(({ entry }) => entry.form);
    let ends: readonly EntryEnd[];
    try {
      ends = await withinTime(requestTimeoutMs, clock, (signal) => this.#request(forms, signal));
    } catch (cause) {
      this.#circuit.fail(clock.now());
      this.#failures += 1;
      if (this.#failures < requestTries) return clock.sleep(delayAfter(this.#failures, random.fraction()));
      this.#failures = 0;
      const failed: Ended = { result: { sent: false, code: nameOf(cause) }, cause };
      return this.#endAll((waiting) => (heads.includes(waiting) ? failed : { ...NOT_ATTEMPTED, cause }));
    }
    this.#circuit.succeed();
    this.#failures = 0;
    const retried = heads.map((head, index) => this.#endOne(head, ends[index]!));
    const tries = Math.max(...retried);
    if (tries > 0) await clock.sleep(delayAfter(tries, random.fraction()));
  }

  /** After how many tries it is tried again; 0 if its end has come. */
  #endOne(head: Waiting<Form>, { result, mayPass }: EntryEnd): number {
    head.tries += 1;
    if (!result.sent && mayPass && head.tries < this.#rules.maxTries) return head.tries;
    if (result.sent) this.#lines.advance(head);
    // The head first: what became of it decides about those behind it.
    const stopped = result.sent ? [head] : this.#stop(this.#lines.stop(head));
    for (const waiting of stopped) waiting.end(waiting === head ? { result } : NOT_ATTEMPTED);
    return 0;
  }

  #endAll(endOf: (waiting: Waiting<Form>) => Ended): void {
    for (const waiting of this.#stop(this.#lines.clear())) waiting.end(endOf(waiting));
  }

  /** What comes later must not overtake these. */
  #stop(all: readonly Waiting<Form>[]): readonly Waiting<Form>[] {
    for (const { entry } of all) if (entry.line !== undefined) this.#stopped.add(entry.line);
    return all;
  }
}

/** AWS's errors have telling names; those of Node are called `Error` and have a code. */
function nameOf(cause: unknown): string {
  const { name, code } = Object(cause) as { name?: unknown; code?: unknown };
  return codeOf(name === "Error" ? code : name);
}

/** Full jitter below a doubling bound. */
function delayAfter(tries: number, fraction: number): number {
  return fraction * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - 1));
}

/** Entries that wait to be sent, in lines. Only the head of a line may go: that keeps the order. */
class GroupLines<Form> {
  readonly #lines = new Map<unknown, Waiting<Form>[]>();
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(item: Waiting<Form>): void {
    const line = this.#lines.get(lineNameOf(item));
    if (line === undefined) this.#lines.set(lineNameOf(item), [item]);
    else line.push(item);
  }

  /**
   * The heads that fit into one request; empty when nobody waits. One of each line at most: a service may accept the
   * second of two entries and refuse the first. One that fits into no request goes alone, to be refused.
   */
  heads(): Waiting<Form>[] {
    const heads: Waiting<Form>[] = [];
    let bytes = 0;
    for (const [head] of this.#lines.values()) {
      bytes += head!.entry.bytes;
      if (heads.length === MAX_ENTRIES || (heads.length > 0 && bytes > this.#maxBytes)) break;
      heads.push(head!);
    }
    return heads;
  }

  /** The head has been sent: the next of its line may go. */
  advance(head: Waiting<Form>): void {
    const line = this.#lines.get(lineNameOf(head))!;
    line.shift();
    if (line.length === 0) this.#lines.delete(lineNameOf(head));
  }

  /** Takes the whole line of a head out, and answers with it: the head first. */
  stop(head: Waiting<Form>): readonly Waiting<Form>[] {
    const line = this.#lines.get(lineNameOf(head))!;
    this.#lines.delete(lineNameOf(head));
    return line;
  }

  /** Takes all lines out. */
  clear(): readonly Waiting<Form>[] {
    const all = [...this.#lines.values()].flat();
    this.#lines.clear();
    return all;
  }
}

function lineNameOf(item: Waiting<unknown>): unknown {
  return item.entry.line ?? item;
}
