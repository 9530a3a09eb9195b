// Stands between an engine and its store, whichever store it is: counts requests, delays them, or lets a process die.
import type { Clock, Store } from "onceonly";

const WRITES = ["claim", "settle", "insert"];

/** Does `around` for each request, which it sends by calling `send`. Checks are no requests: they are answered at once. */
function aroundRequests<S extends Store<never>>(
  store: S,
  around: (name: string, send: () => Promise<unknown>) => Promise<unknown>,
): S {
  return new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name, target) as unknown;
      if (typeof method !== "function") return method;
      return (...args: unknown[]) => {
        const send = () => Reflect.apply(method, target, args) as Promise<unknown>;
        return String(name).startsWith("check") ? send() : around(String(name), send);
      };
    },
  });
}

const REQUEST_MS = 5;

/** Each request takes a while, so that requests overlap. */
export function countRequests<S extends Store<never>>(store: S, clock: Clock) {
  const counts = {
    /** Refused ones count. */
    writes: 0,
    reads: 0,
    /** The most that were under way at once. */
    peak: 0,
  };
  let underWay = 0;
  const counted = aroundRequests(store, async (name, send) => {
    counts[WRITES.includes(name) ? "writes" : "reads"] += 1;
    underWay += 1;
    counts.peak = Math.max(counts.peak, underWay);
    await clock.sleep(REQUEST_MS);
    try {
      return await send();
    } finally {
      underWay -= 1;
    }
  });
  return { store: counted, counts };
}

export interface Death {
  /** The process dies with this request, from 1. */
  readonly request: number;
  /** Whether the store still applies it. */
  readonly isApplied: boolean;
}

/** What a process has of its store: once it is dead it asks for nothing more, and hears no answer. */
export function mortalProcess<S extends Store<never>>(store: S, death: Death | undefined) {
  const never = new Promise<never>(() => {});
  let isDead = false;
  let tellDeath = () => {};
  const died = new Promise<void>((resolve) => {
    tellDeath = resolve;
  });
  const die = () => {
    isDead = true;
    tellDeath();
  };
  let requests = 0;
  const mortal = aroundRequests(store, async (_, send) => {
    if (isDead) return never;
    requests += 1;
    const isLast = requests === death?.request;
    if (isLast && !death?.isApplied) die();
    if (isDead) return never;
    const answer = await send();
    if (isLast) die();
    return isDead ? never : answer;
  });
  return { store: mortal, die, died, isDead: () => isDead };
}
