// A write reaches the table and its answer does not come back; the SDK then sends it again.
import { answered, EVENT, happensOnce, ordering, type Scenario, sameAnswers } from "../scenario.ts";

const claim: Scenario = {
  name: "answer of the claim lost",
  hazards: ["H8"],
  title: "The answer of the claim is lost",
  deed: "The table applies the first write of a call, the connection breaks before the response, and the SDK repeats the write.",
  calls: ["first call", "retry"],
  async run(lab) {
    const call = lab.deploy({ handler: ordering(lab) });
    let requests = 0;
    lab.faults = () => (++requests === 1 ? "lose-answer" : "pass");
    return { answers: [await call(EVENT), await call(EVENT)], effects: lab.effects };
  },
  wishes: [
    happensOnce,
    answered("the first call is answered", 0),
    sameAnswers("the retry gets the first answer", 0, 1),
  ],
  note: "A call that doesn't recognise its own claim blocks its key until the lease ends.",
};

const completion: Scenario = {
  name: "answer of the completion lost",
  hazards: ["H8"],
  title: "The answer of the completion is lost",
  deed: "The same happens to the write that stores the result.",
  calls: ["first call", "retry"],
  async run(lab) {
    const call = lab.deploy({
      async handler() {
        let requests = 0;
        lab.faults = () => (++requests === 1 ? "lose-answer" : "pass");
        return lab.makeOrder();
      },
    });
    return { answers: [await call(EVENT), await call(EVENT)], effects: lab.effects };
  },
  wishes: [happensOnce, sameAnswers("the retry gets the first answer", 0, 1)],
};

const release: Scenario = {
  name: "answer of the release lost",
  hazards: ["H8"],
  title: "The handler fails, and the answer of the release is lost",
  deed: "The handler throws before its effect, and the same happens to the write that lets a retry run.",
  calls: ["first call", "retry"],
  async run(lab) {
    let attempts = 0;
    const call = lab.deploy({
      async handler() {
        if (++attempts > 1) return lab.makeOrder();
        let requests = 0;
        lab.faults = () => (++requests === 1 ? "lose-answer" : "pass");
        throw new TypeError("the first attempt fails");
      },
    });
    return { answers: [await call(EVENT), await call(EVENT)], effects: lab.effects };
  },
  wishes: [
    {
      words: "the first call gets the handler's own error",
      holds: ({ answers }) => answers[0] === "throws TypeError",
    },
    happensOnce,
    answered("the retry runs", 1),
  ],
};

export const lostAnswerScenarios = [claim, completion, release] as const;
