// Functions for an HTTP API.
import httpJsonBodyParser from "@middy/http-json-body-parser";
import { postOrder } from "../../../measure/contestants/lambda-call.ts";
import { happensOnce, type Scenario, sameAnswers } from "../scenario.ts";

const parserAfter: Scenario = {
  name: "body parser",
  hazards: ["H49"],
  title: "Middy's body parser comes after the package",
  deed: "`@middy/http-json-body-parser` replaces the body of the event with the parsed one, after the package has read it.",
  calls: ["first request", "retry"],
  async run(lab) {
    const handler = async () => lab.makeHttpOrder();
    const call = lab.deploy({ handler, keyedBy: "header", after: [httpJsonBodyParser() as never] });
    return {
      answers: [await call(postOrder("key-1")), await call(postOrder("key-1"))],
      effects: lab.effects,
    };
  },
  wishes: [happensOnce, sameAnswers("the retry gets the first answer", 0, 1)],
  note:
    "Powertools reads its event again when it completes. With the parser before it, and a path into the parsed body, " +
    "it answers correctly; onceonly rejects that order on the first event.",
};

const serverError: Scenario = {
  name: "503 answer",
  hazards: ["H50"],
  title: "The handler answers 503 without having done anything",
  deed: "A system that the handler needs is down, so it answers 503, as it would without any package. Then a retry comes.",
  calls: ["first request", "retry", "one more"],
  async run(lab) {
    let attempts = 0;
    const call = lab.deploy({
      keyedBy: "header",
      handler: async () => (++attempts === 1 ? { statusCode: 503, body: "{}" } : lab.makeHttpOrder()),
    });
    const answers: string[] = [];
    for (let nth = 0; nth < 3; nth++) answers.push(await call(postOrder("key-1")));
    return { answers, effects: lab.effects };
  },
  wishes: [
    { words: "a retry runs", holds: ({ effects }) => effects === 1 },
    sameAnswers("later calls get its answer", 1, 2),
  ],
  note:
    "Powertools isn't only for HTTP: it stores any result, whatever its status. In its documentation, handlers " +
    "throw if a retry should run.",
};

export const httpScenarios = [parserAfter, serverError] as const;
