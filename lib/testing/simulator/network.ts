/**
 * Everything between hosts and services: numbers each request, puts its fault on it, and lets it and its answer take
 * their time. What hosts ask at one time goes out in the order of the hosts, however long real work took them.
 */
import { checkFault, type Exchange } from "./exchange.ts";
import type { Fault } from "./fault.ts";
import type { Host } from "./host.ts";
import type { Io } from "./io.ts";
import type { Trace } from "./trace.ts";

/** Decides on the fault of an I/O; `undefined` leaves it as it is. */
export type Faults = (io: Io) => Fault | undefined;

interface Asked {
  readonly host: Host;
  readonly invocation: number;
  readonly exchange: Exchange<unknown>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How long a request takes to its service, and its answer back, in ms. */
const LATENCY_MS = { dynamodb: [1, 5], sqs: [2, 10], http: [5, 30] } as const;

export class Network {
  faults: Faults | undefined;
  readonly #trace: Trace;
  #asked: Asked[] = [];
  #count = 0;

  constructor(trace: Trace) {
    this.#trace = trace;
  }

  ask<Answer>(host: Host, invocation: number, exchange: Exchange<Answer>): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      if (host.state === "dead") return;
      this.#asked.push({
        host,
        invocation,
        exchange: exchange as Exchange<unknown>,
        resolve: resolve as (answer: unknown) => void,
        reject,
      });
    });
  }

  /** Sends what was asked; `false` where nothing was. */
  dispatch(): boolean {
    const asked = this.#asked.sort((first, second) => first.host.order - second.host.order);
    this.#asked = [];
    for (const each of asked) this.#send(each);
    return asked.length > 0;
  }

  #send(asked: Asked): void {
    const { host, invocation, exchange } = asked;
    if (host.state === "dead") return;
    if (host.isHeldByFault) {
      host.deliver(() => this.#send(asked));
      return;
    }
    const io: Io = { number: ++this.#count, hostId: host.id, invocation, ...exchange.io };
    const fault = this.faults?.(io);
    if (fault) checkFault(io, fault);
    new Passage(asked, io, fault, this.#trace).begin();
  }
}

/** One I/O on its way. */
class Passage {
  readonly #asked: Asked;
  readonly #io: Io;
  readonly #fault: Fault | undefined;
  readonly #trace: Trace;

  constructor(asked: Asked, io: Io, fault: Fault | undefined, trace: Trace) {
    this.#asked = asked;
    this.#io = io;
    this.#fault = fault;
    this.#trace = trace;
  }

  begin(): void {
    const { host, exchange, reject } = this.#asked;
    const fault = this.#fault;
    if (fault?.kind === "unsent") {
      this.#note("not sent");
      this.#back(() => reject(exchange.broken()));
    } else if (fault?.kind === "crash" && fault.when === "before") {
      this.#note("not sent");
      host.die("crashed");
    } else if (fault?.kind === "freeze" && fault.when === "before") {
      host.freezeFor(fault.ms);
      host.deliver(() => this.#travel());
    } else if (fault?.kind === "slow" && fault.when === "before") {
      this.#later(fault.ms, () => this.#arrive());
    } else this.#travel();
  }

  #travel(): void {
    this.#later(this.#latency(), () => this.#arrive());
  }

  /** It arrives also when its host is gone by then. */
  #arrive(): void {
    const { exchange, resolve, reject } = this.#asked;
    this.#run().then(
      (answer) => this.#answered(exchange.describe(answer), () => resolve(answer)),
      (error: unknown) => this.#answered(Object(error).name ?? String(error), () => reject(error)),
    );
  }

  #run(): Promise<unknown> {
    const { exchange } = this.#asked;
    switch (this.#fault?.kind) {
      case "throttle":
        return exchange.throttled();
      case "conflict":
        return exchange.conflicted?.() ?? exchange.run();
      case "stale":
        return exchange.runStale?.() ?? exchange.run();
      default:
        return exchange.run();
    }
  }

  #answered(text: string, tell: () => void): void {
    const { host, exchange, reject } = this.#asked;
    const fault = this.#fault;
    this.#note(text);
    if (fault?.kind === "crash") host.die("crashed");
    else if (fault?.kind === "lost-answer") this.#back(() => reject(exchange.broken()));
    else if (fault?.kind === "slow" && fault.when !== "before") {
      this.#later(fault.ms, () => host.deliver(tell));
    } else {
      if (fault?.kind === "freeze" && fault.when === "after") host.freezeFor(fault.ms);
      this.#back(tell);
    }
  }

  #back(tell: () => void): void {
    const { host } = this.#asked;
    this.#later(this.#latency(), () => host.deliver(tell));
  }

  #later(ms: number, work: () => void): void {
    this.#asked.host.time.after(ms, work);
  }

  #latency(): number {
    const [min, max] = LATENCY_MS[this.#io.service];
    return this.#asked.host.latency.between(min, max);
  }

  #note(text: string): void {
    const { host, invocation, exchange } = this.#asked;
    const isGivenUp = exchange.signal?.aborted ?? false;
    const [io, fault] = [this.#io, this.#fault];
    this.#trace.note({ kind: "io", hostId: host.id, invocation, io, fault, isGivenUp, text });
  }
}
