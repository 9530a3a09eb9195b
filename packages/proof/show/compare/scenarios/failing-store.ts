// The table refuses writes: for as long as the SDK tries, until the deadline, or on the claim.
import {
  answered,
  callThreeTimes,
  EVENT,
  happensOnce,
  neverTwice,
  ordering,
  PAST_THE_LEASE_MS,
  refused,
  type Scenario,
  sameAnswers,
  THREE_CALLS,
} from "../scenario.ts";

const completionThrottled: Scenario = {
  name: "completion throttled",
  hazards: ["H7"],
  title: "The completion is throttled for as long as the SDK tries",
  deed: "The effect has happened. The table rejects the write of the result three times, then accepts writes again.",
  calls: THREE_CALLS,
  async run(lab) {
    const call = lab.deploy({
      async handler() {
        const order = lab.makeOrder();
        let requests = 0;
        if (order.order === 1) lab.faults = () => (++requests <= 3 ? "throttle" : "pass");
        return order;
      },
    });
    const answers = await callThreeTimes(lab, call);
    return { answers, effects: lab.effects };
  },
  wishes: [
    happensOnce,
    answered("the first call is answered", 0),
    sameAnswers("every call gets the same answer", 0, 1, 2),
  ],
};

const commitRefused: Scenario = {
  name: "commit refused",
  hazards: ["H7"],
  title: "The table takes no writes until the deadline; the effect is an order in DynamoDB",
  deed:
    "From the start of the handler to the end of the invocation, the record table rejects every write. " +
    "With onceonly, the handler commits the order with its result. Powertools has no such method, so its handler puts the order.",
  calls: THREE_CALLS,
  async run(lab) {
    let attempts = 0;
    const call = lab.deploy({
      async handler(_event, context) {
        const order = { order: ++attempts };
        if (attempts === 1) {
          const { recordsTable } = lab;
          lab.faults = ({ body }) => (JSON.stringify(body).includes(recordsTable) ? "throttle" : "pass");
        }
        await lab.contestant.storeOrder(lab, context, order);
        return order;
      },
    });
    const answers = await callThreeTimes(lab, call);
    return { answers, effects: await lab.storedOrders() };
  },
  wishes: [happensOnce, answered("a retry after the lease is answered", 2)],
};

const completionLost: Scenario = {
  name: "completion lost",
  hazards: ["H3", "H7"],
  title: "The table takes no writes until the deadline; the effect is outside DynamoDB",
  deed: "An effect outside any transaction happens, and its result can't be written until the invocation is over.",
  calls: THREE_CALLS,
  async run(lab) {
    const call = lab.deploy({
      async handler() {
        const order = lab.makeOrder();
        if (order.order === 1) lab.faults = () => "throttle";
        return order;
      },
    });
    const answers = await callThreeTimes(lab, call);
    return { answers, effects: lab.effects };
  },
  wishes: [
    happensOnce,
    answered("the first caller gets the result", 0),
    refused("no call runs while the lease is live", 1),
  ],
  note:
    "No store can undo an effect in another system, or know about it, so both packages run again after the lease. onceonly's " +
    "handler can pass on a child key and a fencing number, so the other system can reject the second one.",
};

const claimThrottled: Scenario = {
  name: "claim throttled",
  hazards: ["H13"],
  title: "The claim is throttled",
  deed: "The table rejects every write of the first call, then accepts writes again.",
  calls: ["first call", "retry"],
  async run(lab) {
    const call = lab.deploy({ handler: ordering(lab) });
    lab.faults = () => "throttle";
    const first = await call(EVENT);
    lab.faults = () => "pass";
    return { answers: [first, await call(EVENT)], effects: lab.effects };
  },
  wishes: [refused("nothing runs without a claim", 0), happensOnce, answered("the retry runs", 1)],
};

const releaseLost: Scenario = {
  name: "release throttled",
  hazards: ["H7"],
  title: "The handler fails, and the release is throttled",
  deed: "The handler throws before its effect, and the table rejects writes until the invocation is over.",
  calls: ["first call", "retry after the lease"],
  async run(lab) {
    let attempts = 0;
    const call = lab.deploy({
      async handler() {
        if (++attempts > 1) return lab.makeOrder();
        lab.faults = () => "throttle";
        throw new TypeError("the first attempt fails");
      },
    });
    const first = await call(EVENT);
    lab.faults = () => "pass";
    lab.skipTime(PAST_THE_LEASE_MS);
    return { answers: [first, await call(EVENT)], effects: lab.effects };
  },
  wishes: [
    {
      words: "the first call gets the handler's own error",
      holds: ({ answers }) => answers[0] === "throws TypeError",
    },
    neverTwice,
    answered("a retry after the lease runs", 1),
  ],
};

export const failingStoreScenarios = [
  completionThrottled,
  commitRefused,
  completionLost,
  releaseLost,
  claimThrottled,
] as const;
