/**
 * Applies one disturbance to a run: counts its I/O, gives the named requests their faults, and reports the
 * strike.
 */
import { canHave } from "../simulator/exchange.ts";
import type { Fault } from "../simulator/fault.ts";
import type { Io } from "../simulator/io.ts";
import type { Disturbance } from "./disturbances.ts";

export class Interference {
  /** The I/O since the counting began; the point of an I/O is its place here, from 1. */
  readonly ios: Io[] = [];
  readonly #pending: Disturbance[];
  /** Faults that affect more than one attempt. */
  readonly #lasting: { readonly covers: (io: Io) => boolean; readonly fault: Fault }[] = [];
  readonly #strike: () => void;
  readonly #begin: () => void;
  /** Resolves when a duplicate is due. */
  readonly duplicateDue: Promise<void>;
  #isArmed = false;

  constructor(disturbance: Disturbance | undefined) {
    this.#pending =
      disturbance === undefined ? [] : [disturbance, ...(disturbance.next ? [disturbance.next] : [])];
    const when = disturbance?.duplicate;
    let due: () => void = () => {};
    this.duplicateDue = new Promise((resolve) => {
      due = resolve;
    });
    this.#strike = when === "meanwhile" ? due : () => {};
    this.#begin = when === "at-once" ? due : () => {};
  }

  /** Begins to count I/O. */
  arm(): void {
    this.#isArmed = true;
  }

  /** Until the returned function is called, eventually consistent reads see the previous version. */
  readStale(): () => void {
    this.#lasting.push({ covers: () => true, fault: { kind: "stale" } });
    return () => {
      this.#lasting.length = 0;
    };
  }

  /** A disturbance that has not struck yet is dropped: the repetition afterwards is undisturbed. */
  rest(): void {
    this.#pending.length = 0;
  }

  /** Call this when the handler was given an event. */
  noteStart(): void {
    if (this.#isArmed) this.#begin();
  }

  faultFor(io: Io): Fault | undefined {
    if (!this.#isArmed) return undefined;
    this.ios.push(io);
    const [next] = this.#pending;
    if (next?.fault !== undefined && next.point?.number === this.ios.length && canHave(io, next.fault.kind)) {
      this.#pending.shift();
      this.#strike();
      if (next.reach === "invocation") this.#lasting.push({ covers: sameService(io), fault: next.fault });
      if (next.reach === "request") this.#lasting.push({ covers: sameRequest(io), fault: next.fault });
      return next.fault;
    }
    return this.#lasting.find(({ covers, fault }) => covers(io) && canHave(io, fault.kind))?.fault;
  }
}

function sameService({ invocation, service }: Io): (io: Io) => boolean {
  return (io) => io.invocation === invocation && io.service === service;
}

function sameRequest(first: Io): (io: Io) => boolean {
  const inputOf = ({ operation, target, input }: Io) => JSON.stringify([operation, target, input]);
  const text = inputOf(first);
  return (io) => sameService(first)(io) && inputOf(io) === text;
}
