// Keys: missing, shared by operations or by callers, and handlers that change the object that the key was read from.
import { postOrderAs } from "../lab.ts";
import { EVENT, happensOnce, ordering, type Scenario, sameAnswers } from "../scenario.ts";

const missing: Scenario = {
  name: "missing key",
  hazards: ["H23"],
  title: "An event without a key",
  deed: "No option says what to do with such an event. It is delivered twice.",
  calls: ["first delivery", "second delivery"],
  async run(lab) {
    const call = lab.deploy({ handler: ordering(lab), keyMissing: "as by default" });
    return { answers: [await call({ item: "book" }), await call({ item: "book" })], effects: lab.effects };
  },
  wishes: [{ words: "nothing runs unprotected", holds: ({ effects }) => effects < 2 }],
  note:
    "The defaults differ, and both are documented: with `throwOnNoIdempotencyKey: true`, as in every other row here, " +
    'Powertools refuses too; with `whenKeyMissing: "run"` onceonly runs too.',
};

const twoOperations: Scenario = {
  name: "two operations",
  hazards: ["H19", "H52"],
  title: "One key in two operations that share a table",
  deed: "Two functions process the same event, each under its own name.",
  calls: ["first function", "second function", "first function again"],
  async run(lab) {
    const first = lab.deploy({ handler: ordering(lab), operation: "create-order" });
    const second = lab.deploy({ handler: ordering(lab), operation: "send-mail" });
    const answers = [await first(EVENT), await second(EVENT), await first(EVENT)];
    return { answers, effects: lab.effects };
  },
  wishes: [
    { words: "each function runs once", holds: ({ effects }) => effects === 2 },
    sameAnswers("the first function replays its own answer", 0, 2),
  ],
};

const twoCallers: Scenario = {
  name: "two callers",
  hazards: ["H21"],
  title: "Two callers choose the same key",
  deed:
    "Two requests by different callers, both verified by the gateway, carry the same `Idempotency-Key`. onceonly " +
    "requires a `scope`; Powertools' key consists of the caller and the header.",
  calls: ["caller A", "caller B", "caller A again"],
  async run(lab) {
    const call = lab.deploy({ handler: async () => lab.makeHttpOrder(), keyedBy: "caller and header" });
    const answers: string[] = [];
    for (const caller of ["A", "B", "A"]) answers.push(await call(postOrderAs(caller, "key-1")));
    return { answers, effects: lab.effects };
  },
  wishes: [
    { words: "each caller gets their own order", holds: ({ answers }) => answers[0] !== answers[1] },
    sameAnswers("caller A's retry gets caller A's answer", 0, 2),
  ],
  note: "With Powertools, including the caller in the key is up to the user: with only the header, B would get A's answer.",
};

const delimiters: Scenario = {
  name: "delimiters",
  hazards: ["H20"],
  title: "Callers and keys that run into each other",
  deed: 'Caller "A" sends the key "B#C", and caller "A#B" the key "C".',
  calls: ["caller A", "caller A#B"],
  async run(lab) {
    const call = lab.deploy({ handler: async () => lab.makeHttpOrder(), keyedBy: "caller and header" });
    const answers = [await call(postOrderAs("A", "B#C")), await call(postOrderAs("A#B", "C"))];
    return { answers, effects: lab.effects };
  },
  wishes: [{ words: "each caller gets their own order", holds: ({ answers }) => answers[0] !== answers[1] }],
};

const changedEvent: Scenario = {
  name: "changed event",
  hazards: ["H49"],
  title: "A handler that changes its event",
  deed: "The handler writes a default into its event, as handlers and parsers do. Then a retry comes.",
  calls: ["first call", "retry"],
  async run(lab) {
    const call = lab.deploy({
      async handler(event: { item: string }) {
        event.item = "book, paperback";
        return lab.makeOrder();
      },
    });
    return { answers: [await call({ ...EVENT }), await call({ ...EVENT })], effects: lab.effects };
  },
  wishes: [happensOnce, sameAnswers("the retry gets the first answer", 0, 1)],
};

export const keyScenarios = [missing, twoOperations, twoCallers, delimiters, changedEvent] as const;
