// What happens to each request of a host: most pass; the others are lost, late, repeated, throttled or refused. In a
// blackout none passes. Now and then the host's process is killed or stopped just after it has sent one.
import type { ObservedRequest, ProxyFault } from "../../../local/lib/fault-proxy.ts";
import type { SeededRandom } from "../demo/random.ts";
import type { Host } from "./host.ts";
import type { Tally } from "./tally.ts";

export interface Weather {
  decide(host: Host, request: ObservedRequest): ProxyFault;
  decideForQueues(request: ObservedRequest): ProxyFault;
  /** From now on everything passes, until the next storm. */
  calm(): void;
  storm(): void;
  /** Nothing of this host reaches the database. */
  blackOut(host: Host, ms: number): void;
}

export interface WeatherOptions {
  readonly random: SeededRandom;
  readonly faults: Tally;
  /** How long a process is stopped: longer than its lease. */
  readonly stopMs: () => number;
  /** The share of requests at which the process is stopped. */
  readonly stopShare: number;
}

type Kind =
  | "lost answer"
  | "throttled"
  | "conflict"
  | "late"
  | "late, after its repetition"
  | "repeated later"
  | "killed at a request"
  | "stopped at a request";

/** Shares of all requests. */
const SHARES: readonly (readonly [Kind, number])[] = [
  ["lost answer", 0.05],
  ["throttled", 0.015],
  ["conflict", 0.01],
  ["late", 0.05],
  ["late, after its repetition", 0.03],
  ["repeated later", 0.06],
  ["killed at a request", 0.003],
];

/** A transaction that arrives after its repetition may find that the cause of the repetition's failure is gone. */
const LATE_TRANSACTIONS = 0.06;

/** What a queue's proxy does: it can't express the rest. */
const OF_QUEUES: readonly Kind[] = ["lost answer", "late", "late, after its repetition", "repeated later"];

export function createWeather({ random, faults, stopMs, stopShare }: WeatherOptions): Weather {
  const blackouts = new Map<Host, number>();
  let isCalm = true;

  function draw(): Kind | undefined {
    let chance = random.fraction();
    for (const [kind, share] of [...SHARES, ["stopped at a request", stopShare] as const]) {
      chance -= share;
      if (chance < 0) return kind;
    }
    return undefined;
  }

  function faultOf(kind: Kind, host: Host, operation: string): ProxyFault {
    switch (kind) {
      case "lost answer":
        return "lose-answer";
      case "throttled":
        return "throttle";
      case "conflict":
        return "conflict";
      case "late":
        return { delayMs: random.integer(5, 300) };
      case "late, after its repetition":
        return { delayMs: random.integer(1100, 6000) };
      case "repeated later":
        // A commit that a condition refused, and that was sent once, is over. Only a network that repeats requests
        // by itself brings the commit again.
        return {
          repeatAfterMs: random.integer(10, 6000),
          unlessRefused: operation === "TransactWriteItems",
        };
      case "killed at a request":
        host.kill();
        return random.pick(["pass", "throttle"]);
      case "stopped at a request":
        host.stopFor(stopMs());
        return random.fraction() < 0.5 ? "pass" : { delayMs: random.integer(100, 3000) };
    }
  }

  return {
    decide(host, { operation }) {
      if (isCalm) return "pass";
      if ((blackouts.get(host) ?? 0) > Date.now()) {
        faults.add("throttled in a blackout");
        return "throttle";
      }
      const isLate = operation === "TransactWriteItems" && random.fraction() < LATE_TRANSACTIONS;
      const kind = isLate ? "late, after its repetition" : draw();
      // A conflict is one of writes.
      if (!kind || (kind === "conflict" && operation === "GetItem")) return "pass";
      faults.add(kind);
      return faultOf(kind, host, operation);
    },
    decideForQueues({ operation }) {
      const kind = isCalm ? undefined : draw();
      if (!kind || !OF_QUEUES.includes(kind)) return "pass";
      faults.add(`${kind} (queues)`);
      return faultOf(kind, undefined as never, operation);
    },
    calm() {
      isCalm = true;
      blackouts.clear();
    },
    storm() {
      isCalm = false;
    },
    blackOut(host, ms) {
      faults.add("blackout");
      blackouts.set(host, Date.now() + ms);
    },
  };
}
