/**
 * The network between hosts and services: numbers each request, applies its fault, and delays request and
 * answer. Simultaneous requests leave in the order of the hosts, because the time of real work must not
 * matter.
 */
import { checkFault, type Exchange } from "./exchange.ts";
import type { Fault } from "./fault.ts";
import type { Host } from "./host.ts";
import type { Io } from "./io.ts";
import type { CallQuota } from "./quotas.ts";
import type { Trace } from "./trace.ts";

/** Decides on the fault of an I/O; `undefined` means no fault. */
export type Faults = (io: Io) => Fault | undefined;

interface PendingRequest {
  readonly host: Host;
  readonly invocation: number;
  readonly exchange: Exchange<unknown>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Range = readonly [least: number, most: number];

/** How long a request needs to reach its service, and its response to come back, in ms. */
const LATENCY_MS = {
  dynamodb: [1, 5],
  sqs: [2, 10],
  sns: [5, 25],
  eventbridge: [5, 25],
  ssm: [5, 25],
  secretsmanager: [5, 25],
  s3: [5, 25],
  ses: [5, 25],
  lambda: [5, 25],
  http: [5, 30],
  foreign: [1, 5],
} as const;

interface Latency {
  readonly there: Range;
  readonly back: Range;
}

/** The time of a round trip in ms, by the name of a service or of a target. */
export type Latencies = Readonly<Record<string, number | Range>>;

export class Network {
  faults: Faults | undefined;
  readonly #trace: Trace;
  readonly #latencies: Latencies;
  readonly #quota: CallQuota;
  #asked: PendingRequest[] = [];
  #count = 0;

  constructor(trace: Trace, latencies: Latencies, quota: CallQuota) {
    this.#trace = trace;
    this.#latencies = latencies;
    this.#quota = quota;
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

  /** Sends the pending requests; `false` if there were none. */
  dispatch(): boolean {
    const asked = this.#asked.sort((first, second) => first.host.order - second.host.order);
    this.#asked = [];
    for (const each of asked) this.#send(each);
    return asked.length > 0;
  }

  #send(asked: PendingRequest): void {
    const { host, invocation, exchange } = asked;
    if (host.state === "dead") return;
    if (host.isHeldByFault) {
      host.deliver(() => this.#send(asked));
      return;
    }
    const at = host.time.now() - host.time.startAt;
    const io: Io = { number: ++this.#count, at, hostId: host.id, invocation, ...exchange.io };
    const fault = this.faults?.(io);
    if (fault) checkFault(io, fault);
    const isOverQuota = () => this.#quota.refuses(io, host.time.now());
    new Passage({ asked, io, fault, isOverQuota, trace: this.#trace, latency: this.#latencyOf(io) }).begin();
  }

  /** The delays of request and response in whole ms, because clocks have no fractions. */
  #latencyOf({ service, target }: Io): Latency {
    const known = (name: string) =>
      Object.hasOwn(this.#latencies, name) ? this.#latencies[name] : undefined;
    const given = known(target) ?? known(service);
    if (given === undefined) return { there: LATENCY_MS[service], back: LATENCY_MS[service] };
    const [least, most] = typeof given === "number" ? [given, given] : given;
    return {
      there: [Math.floor(least / 2), Math.floor(most / 2)],
      back: [Math.ceil(least / 2), Math.ceil(most / 2)],
    };
  }
}

interface PassageOptions {
  readonly asked: PendingRequest;
  readonly io: Io;
  readonly fault: Fault | undefined;
  readonly trace: Trace;
  readonly latency: Latency;
  /** Read once, when the request arrives. */
  readonly isOverQuota: () => boolean;
}

/** One I/O on its way. */
class Passage {
  readonly #asked: PendingRequest;
  readonly #io: Io;
  readonly #fault: Fault | undefined;
  readonly #trace: Trace;
  readonly #latency: Latency;
  readonly #isOverQuota: () => boolean;

  constructor({ asked, io, fault, trace, latency, isOverQuota }: PassageOptions) {
    this.#asked = asked;
    this.#io = io;
    this.#fault = fault;
    this.#trace = trace;
    this.#latency = latency;
    this.#isOverQuota = isOverQuota;
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
    } else if (fault?.kind === "unanswered" && fault.when !== "after") {
      this.#note("lost on its way");
    } else if (fault?.kind === "slow" && fault.when === "before") {
      this.#later(fault.ms, () => this.#arrive());
    } else this.#travel();
  }

  #travel(): void {
    this.#later(this.#drawn("there"), () => this.#arrive());
  }

  /** The request arrives even if its host is gone by then. */
  #arrive(): void {
    const { exchange, resolve, reject } = this.#asked;
    this.#run().then(
      (answer) => this.#answered(exchange.describe(answer), () => resolve(answer)),
      (error: unknown) => this.#answered(Object(error).name ?? String(error), () => reject(error)),
    );
  }

  #run(): Promise<unknown> {
    const { exchange } = this.#asked;
    const fault = this.#fault;
    if (this.#isOverQuota()) return exchange.throttled();
    switch (fault?.kind) {
      case "throttle":
        return exchange.throttled();
      case "refused":
        return exchange.refused(fault);
      case "refused-entries":
        return exchange.runWithout?.(fault) ?? exchange.run();
      case "conflict":
        return exchange.conflicted?.() ?? exchange.run();
      case "stale":
        return exchange.runStale?.() ?? exchange.run();
      default:
        return exchange.run();
    }
  }

  #answered(text: string, respond: () => void): void {
    const { host, exchange, reject } = this.#asked;
    const fault = this.#fault;
    this.#note(text);
    if (fault?.kind === "crash") host.die("crashed");
    else if (fault?.kind === "unanswered") return;
    else if (fault?.kind === "lost-answer") this.#back(() => reject(exchange.broken()));
    else if (fault?.kind === "slow" && fault.when !== "before") {
      this.#later(fault.ms, () => host.deliver(respond));
    } else {
      if (fault?.kind === "freeze" && fault.when === "after") host.freezeFor(fault.ms);
      this.#back(respond);
    }
  }

  #back(respond: () => void): void {
    const { host } = this.#asked;
    this.#later(this.#drawn("back"), () => host.deliver(respond));
  }

  #later(ms: number, work: () => void): void {
    this.#asked.host.time.after(ms, work);
  }

  #drawn(way: keyof Latency): number {
    return this.#asked.host.latency.between(...this.#latency[way]);
  }

  #note(text: string): void {
    const { host, invocation, exchange } = this.#asked;
    const isGivenUp = exchange.signal?.aborted ?? false;
    const [io, fault] = [this.#io, this.#fault];
    this.#trace.note({ kind: "io", hostId: host.id, invocation, io, fault, isGivenUp, text });
  }
}
