// The invocation ends before the handler does.

import { fakeLambdaContext } from "onceonly/testing";
import { gate } from "../../../../../test/kit/time/gate.ts";
import {
  answered,
  EVENT,
  happensOnce,
  ordering,
  PAST_THE_LEASE_MS,
  refused,
  type Scenario,
} from "../scenario.ts";

const dies: Scenario = {
  name: "dies",
  hazards: ["H42"],
  title: "Lambda's timeout ends the process before the effect",
  deed: "The process of the first call dies in its handler. One retry comes within the lease, and one after it.",
  calls: ["retry within the lease", "retry after the lease"],
  async run(lab) {
    const started = gate();
    const dying = lab.deploy({
      handler() {
        started.open();
        return new Promise(() => {});
      },
    });
    const next = lab.deploy({ handler: ordering(lab) });
    const unanswered = dying(EVENT);
    await Promise.race([started.opened, unanswered]);
    const within = await next(EVENT);
    lab.skipTime(PAST_THE_LEASE_MS);
    return { answers: [within, await next(EVENT)], effects: lab.effects };
  },
  wishes: [
    refused("no call runs within the lease", 0),
    answered("a retry after the lease runs", 1),
    happensOnce,
  ],
};

const withoutContext: Scenario = {
  name: "dies without a context",
  hazards: ["H42"],
  title: "The process ends in a function that doesn't know the invocation's time",
  deed:
    "The package wraps a function inside the handler. The setting that gives it the invocation's time was " +
    "forgotten: `registerLambdaContext` with Powertools, `leaseSeconds` with onceonly.",
  calls: ["first call", "call after the lease", "call after 50 minutes"],
  async run(lab) {
    const started = gate();
    const dying = lab.deployInner(() => {
      started.open();
      return new Promise(() => {});
    });
    const next = lab.deployInner(ordering(lab));
    const first = dying(EVENT);
    const refusal = await Promise.race([started.opened, first]);
    lab.skipTime(PAST_THE_LEASE_MS);
    const afterLease = await next(EVENT);
    lab.skipTime(50 * 60_000);
    return { answers: [refusal ?? "–", afterLease, await next(EVENT)], effects: lab.effects };
  },
  wishes: [
    {
      words: "no key is stuck: the mistake is reported before anything runs, or a later call runs",
      holds: ({ answers }) => answers[0] === "throws InvalidOptionError" || /^order/.test(answers[2] ?? ""),
    },
  ],
  note:
    "Powertools' documentation asks for the registration, and it logs a warning without it. So this is the " +
    "caller's mistake with both packages. The difference is its cost.",
};

const FUNCTION_MS = 60;

const middyTimeout: Scenario = {
  name: "Middy's early timeout",
  hazards: ["H42"],
  title: "Middy's early timeout ends the invocation while the handler is at work",
  deed:
    "By default, Middy ends an invocation 5 ms before its time is over, and the handler goes on: it waits for " +
    "a slow system. A retry comes in before the lease ends, then the first handler finishes.",
  calls: ["first call", "retry", "call after the lease"],
  async run(lab) {
    const finished = gate();
    let attempts = 0;
    const call = lab.deploy({
      inMiddy: true,
      async handler() {
        if (++attempts === 1) await finished.opened;
        return lab.makeOrder();
      },
    });
    const clock = { now: () => performance.now() };
    const first = await call(EVENT, fakeLambdaContext({ clock, remainingMs: FUNCTION_MS }));
    const retry = await call(EVENT);
    finished.open();
    await untilWritten();
    lab.skipTime(PAST_THE_LEASE_MS);
    return { answers: [first, retry, await call(EVENT)], effects: lab.effects };
  },
  wishes: [
    happensOnce,
    refused("no call runs while the first handler is at work", 1),
    answered("a call after the lease is answered", 2),
  ],
  note:
    "A middleware can't see when such a handler finishes; a wrapper inside Middy can, and completes. On Lambda the " +
    "process freezes after the first answer, and the effect may happen in the next invocation, or never.",
};

/** The data that a handler that keeps running writes by itself. */
function untilWritten(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 100));
}

export const timeoutScenarios = [dies, middyTimeout, withoutContext] as const;
