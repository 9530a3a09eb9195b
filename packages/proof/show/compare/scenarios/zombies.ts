// One execution environment freezes until its lease has ended and another one has finished; then it goes on.
import { gate } from "../../../../../test/kit/time/gate.ts";
import type { Lab, Order } from "../lab.ts";
import {
  EVENT,
  happensOnce,
  ordering,
  PAST_THE_LEASE_MS,
  refused,
  type Scenario,
  sameAnswers,
} from "../scenario.ts";
import type { Seen } from "../seen.ts";

const CALLS = ["zombie", "winner", "third call"];

const completes: Scenario = {
  name: "zombie completes",
  hazards: ["H1"],
  title: "A zombie completes after the winner",
  deed:
    "One environment freezes in its handler, after its effect. Its lease ends, another call runs and completes, and the " +
    "first one thaws and completes too. Then a third call comes.",
  calls: CALLS,
  run: (lab) => wakeZombie(lab, (order) => order),
  wishes: [
    sameAnswers("both calls get the winner's answer", 0, 1),
    sameAnswers("the third call gets the winner's answer", 1, 2),
  ],
  note: "Both packages let two attempts run here: the first one's time is over, and neither package can know that it will wake up.",
};

const fails: Scenario = {
  name: "zombie fails",
  hazards: ["H2"],
  title: "A zombie fails after the winner completed",
  deed: "The same, but the frozen handler throws when it thaws.",
  calls: CALLS,
  run: (lab) =>
    wakeZombie(lab, () => {
      throw new TypeError("the zombie fails");
    }),
  wishes: [
    { words: "no call runs after the winner", holds: ({ effects }) => effects === 2 },
    sameAnswers("the third call gets the winner's answer", 1, 2),
  ],
};

async function wakeZombie(lab: Lab, wakeUp: (order: Order) => Order): Promise<Seen> {
  const started = gate();
  const thawed = gate();
  const zombie = lab.deploy({
    async handler() {
      const order = lab.makeOrder();
      started.open();
      await thawed.opened;
      return wakeUp(order);
    },
  });
  const winner = lab.deploy({ handler: ordering(lab) });

  const late = zombie(EVENT);
  await started.opened;
  lab.skipTime(PAST_THE_LEASE_MS);
  const won = await winner(EVENT);
  thawed.open();
  const answered = await late;
  return { answers: [answered, won, await winner(EVENT)], effects: lab.effects };
}

const SKEW_MS = 2000;

const skew: Scenario = {
  name: "skewed clocks",
  hazards: ["H4"],
  title: "The clock of another host is two seconds ahead",
  deed:
    "A call works for 29 of its 30 seconds. Then a duplicate arrives at a host whose clock is two seconds " +
    "ahead, so the lease seems over. Then the first call finishes in time.",
  calls: ["first call", "duplicate on the other host", "later call"],
  async run(lab) {
    const started = gate();
    const finished = gate();
    const call = lab.deploy({
      async handler() {
        const order = lab.makeOrder();
        started.open();
        if (order.order === 1) await finished.opened;
        return order;
      },
    });
    const first = call(EVENT);
    await started.opened;
    lab.skipTime(29_000 + SKEW_MS);
    const duplicate = await call(EVENT);
    lab.skipTime(-SKEW_MS);
    finished.open();
    return { answers: [await first, duplicate, await call(EVENT)], effects: lab.effects };
  },
  wishes: [
    happensOnce,
    refused("the duplicate is refused while the first call is at work", 1),
    sameAnswers("a later call gets the first answer", 0, 2),
  ],
  note: "onceonly adds 5 seconds to every lease (`clockSkewSeconds`). It can't detect a larger skew.",
};

export const zombieScenarios = [completes, fails, skew] as const;
