// The purpose of every package of this kind, to show that there is no difference between them here.
import { gate } from "../../../../../test/kit/time/gate.ts";
import { answered, EVENT, happensOnce, ordering, refused, type Scenario, sameAnswers } from "../scenario.ts";

const retry: Scenario = {
  name: "retry",
  hazards: [],
  title: "A plain retry",
  deed: "A call, and the same one again.",
  calls: ["first call", "retry"],
  async run(lab) {
    const call = lab.deploy({ handler: ordering(lab) });
    return { answers: [await call(EVENT), await call(EVENT)], effects: lab.effects };
  },
  wishes: [happensOnce, sameAnswers("the retry gets the first answer", 0, 1)],
};

const otherPayload: Scenario = {
  name: "other payload",
  hazards: [],
  title: "Another payload under the same key",
  deed: "A call, and one with the same key that orders something else.",
  calls: ["first call", "other call"],
  async run(lab) {
    const call = lab.deploy({ handler: ordering(lab) });
    const answers = [await call(EVENT), await call({ ...EVENT, item: "pen" })];
    return { answers, effects: lab.effects };
  },
  wishes: [happensOnce, refused("the other call is refused", 1)],
};

const expired: Scenario = {
  name: "expired",
  hazards: ["H5", "H40"],
  title: "A call after the record expired, before TTL has deleted it",
  deed:
    "Each package keeps records for its default time. The call is repeated 25 hours later, when the expired " +
    "item is still in the table, because TTL is late by hours or days.",
  calls: ["first call", "call after 25 hours"],
  async run(lab) {
    const call = lab.deploy({ handler: ordering(lab) });
    const first = await call(EVENT);
    lab.skipTime(25 * 3_600_000);
    return { answers: [first, await call(EVENT)], effects: lab.effects };
  },
  wishes: [
    { words: "a key that has expired is new again", holds: ({ effects }) => effects === 2 },
    answered("the late call is answered", 1),
  ],
  note:
    "With either package, a retry after the retention runs again. The retention is a day with onceonly and an hour with " +
    "Powertools by default, and both have an option for it.",
};

const duplicates: Scenario = {
  name: "duplicates",
  hazards: ["H2", "H57"],
  title: "Duplicates while the first call is at work",
  deed: "While the handler of the first call runs, two duplicates come in, one after the other.",
  calls: ["first call", "first duplicate", "second duplicate", "call after all of them"],
  async run(lab) {
    const started = gate();
    const finished = gate();
    const call = lab.deploy({
      async handler() {
        const order = lab.makeOrder();
        if (order.order > 1) return order;
        started.open();
        await finished.opened;
        return order;
      },
    });
    const first = call(EVENT);
    await started.opened;
    const duplicates = [await call(EVENT), await call(EVENT)];
    finished.open();
    return { answers: [await first, ...duplicates, await call(EVENT)], effects: lab.effects };
  },
  wishes: [happensOnce, sameAnswers("a later call gets the first answer", 0, 3)],
};

export const ordinaryScenarios = [retry, otherPayload, duplicates, expired] as const;
