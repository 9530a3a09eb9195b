// Payloads that only seem the same, or only seem different.
import { postOrder } from "../../../measure/contestants/lambda-call.ts";
import { answered, happensOnce, ordering, refused, type Scenario, sameAnswers } from "../scenario.ts";

const BIG_INTEGERS = ['{"account":9007199254740992}', '{"account":9007199254740993}'] as const;

const bigIntegersInEvents: Scenario = {
  name: "big integers in events",
  hazards: ["H17"],
  title: "Two events that differ in a big integer",
  deed:
    "The whole event is the key. Account 9007199254740993 reaches a handler as 9007199254740992: Lambda's " +
    "runtime parses events into JavaScript numbers.",
  calls: ["event with …992", "event with …993"],
  async run(lab) {
    const call = lab.deploy({ handler: ordering(lab), keyedBy: "whole event" });
    const answers: string[] = [];
    for (const payload of BIG_INTEGERS) answers.push(await call({ id: "key-1", ...JSON.parse(payload) }));
    return { answers, effects: lab.effects };
  },
  wishes: [
    {
      words: "no call gets the answer of another account",
      holds: ({ answers }) => answers[1]?.startsWith("throws ") || answers[0] !== answers[1],
    },
  ],
  note: "onceonly rejects both, because it can't distinguish them. As strings, both work.",
};

const bigIntegersInBodies: Scenario = {
  name: "big integers in bodies",
  hazards: ["H17"],
  title: "Two HTTP bodies that differ in a big integer, under one key",
  deed: "The same numbers in the JSON bodies of two requests with one `Idempotency-Key`.",
  calls: ["body with …992", "body with …993"],
  async run(lab) {
    const call = lab.deploy({ handler: async () => lab.makeHttpOrder(), keyedBy: "header" });
    const answers: string[] = [];
    for (const body of BIG_INTEGERS) answers.push(await call(postOrder("key-1", body)));
    return { answers, effects: lab.effects };
  },
  wishes: [answered("the first request is answered", 0), refused("the second one is refused", 1)],
};

const keyOrder: Scenario = {
  name: "key order in events",
  hazards: ["H17"],
  title: "An event whose properties come in another order",
  deed: "The whole event is the key, and a different sender serialized the retry.",
  calls: ["first call", "retry"],
  async run(lab) {
    const call = lab.deploy({ handler: ordering(lab), keyedBy: "whole event" });
    const answers = [await call({ id: "key-1", item: "book" }), await call({ item: "book", id: "key-1" })];
    return { answers, effects: lab.effects };
  },
  wishes: [happensOnce, sameAnswers("the retry gets the first answer", 0, 1)],
};

const serializedAgain: Scenario = {
  name: "body serialized again",
  hazards: ["H17"],
  title: "An HTTP client that serializes its body again",
  deed: "The retry has the same key and the same JSON, with an extra space.",
  calls: ["first request", "retry"],
  async run(lab) {
    const call = lab.deploy({ handler: async () => lab.makeHttpOrder(), keyedBy: "header" });
    const answers = [
      await call(postOrder("key-1", '{"item":"book"}')),
      await call(postOrder("key-1", '{"item": "book"}')),
    ];
    return { answers, effects: lab.effects };
  },
  wishes: [happensOnce, sameAnswers("the retry gets the first answer", 0, 1)],
  note:
    "onceonly compares the bytes of a body, which is why it gets the big integers right. With " +
    "`fingerprint: ({ body }) => JSON.parse(body)` it compares as Powertools does.",
};

const DEPTH = 20_000;

const deep: Scenario = {
  name: "deep payload",
  hazards: ["H18"],
  title: `A payload with ${DEPTH.toLocaleString("en")} levels`,
  deed: "An event whose lists are nested that deep (40 KB), then an ordinary one.",
  calls: ["deep event", "ordinary event"],
  async run(lab) {
    const call = lab.deploy({ handler: ordering(lab), keyedBy: "whole event" });
    const item = JSON.parse("[".repeat(DEPTH) + "]".repeat(DEPTH)) as unknown;
    const answers = [await call({ id: "key-1", item }), await call({ id: "key-2", item: "book" })];
    return { answers, effects: lab.effects };
  },
  wishes: [
    {
      words: "the deep event is answered, or rejected with an error that names the payload",
      holds: ({ answers }) => /^order|Payload/.test(answers[0] ?? ""),
    },
    answered("the ordinary event is answered", 1),
  ],
};

export const payloadScenarios = [
  bigIntegersInEvents,
  bigIntegersInBodies,
  keyOrder,
  serializedAgain,
  deep,
] as const;
