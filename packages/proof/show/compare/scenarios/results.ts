// Results that are large, or that a store cannot keep as they are.
import { createHash } from "node:crypto";
import type { Lab } from "../lab.ts";
import {
  answered,
  callThreeTimes,
  EVENT,
  happensOnce,
  type Scenario,
  sameAnswers,
  THREE_CALLS,
} from "../scenario.ts";
import type { Seen } from "../seen.ts";

const MEGABYTE = 1_000_000;

const text: Scenario = {
  name: "1 MB of text",
  hazards: ["H15"],
  title: "A result of 1 MB that compresses well",
  deed: "The handler returns a megabyte of text. A DynamoDB item holds 400 KB.",
  calls: THREE_CALLS,
  run: (lab) => returning(lab, () => ({ text: "one more line of a report\n".repeat(MEGABYTE / 26) })),
  wishes: [
    happensOnce,
    answered("the first call is answered", 0),
    sameAnswers("every call gets the same answer", 0, 1, 2),
  ],
};

const noise: Scenario = {
  name: "1 MB of noise",
  hazards: ["H15"],
  title: "A result of 1 MB that does not compress",
  deed: "The same with data that looks random, such as a picture in base64.",
  calls: THREE_CALLS,
  run: (lab) => returning(lab, () => ({ text: likeRandom(MEGABYTE) })),
  wishes: [happensOnce, answered("the first call is answered", 0)],
  note: "onceonly then records only that the operation is done, and every retry gets `ResultNotKeptError` (410 over HTTP).",
};

const date: Scenario = {
  name: "a date",
  hazards: ["H16"],
  title: "A result with a Date",
  deed: "The handler returns an object that contains a `Date`.",
  calls: ["first call", "retry"],
  run: (lab) => returningTwice(lab, () => ({ at: new Date(0) })),
  wishes: [happensOnce, neverTwoAnswers()],
  note:
    "onceonly rejects a result that it couldn't replay unchanged, for the first caller and for all others. It remembers that " +
    "the effect has happened.",
};

const bigInt: Scenario = {
  name: "a big integer",
  hazards: ["H16"],
  title: "A result with a BigInt",
  deed: "The handler returns an object that contains `10n`.",
  calls: ["first call", "retry"],
  run: (lab) => returningTwice(lab, () => ({ cents: 10n })),
  wishes: [happensOnce, neverTwoAnswers()],
};

const nothing: Scenario = {
  name: "no result",
  hazards: ["H16"],
  title: "A handler without a result",
  deed: "The handler returns nothing.",
  calls: ["first call", "retry"],
  run: (lab) => returningTwice(lab, () => undefined),
  wishes: [
    happensOnce,
    { words: "both calls get `undefined`", holds: ({ answers }) => answers.every((a) => a === "undefined") },
  ],
  note: "Powertools' middleware needs a result other than `undefined`, as its documentation says. Its wrapper doesn't.",
};

function neverTwoAnswers() {
  return {
    words: "the retry gets what the first call got",
    holds: ({ answers }: Seen) => answers[0] === answers[1],
  };
}

async function returning(lab: Lab, result: () => unknown): Promise<Seen> {
  const call = lab.deploy({ handler: effectThen(lab, result) });
  const answers = await callThreeTimes(lab, call);
  return { answers, effects: lab.effects };
}

async function returningTwice(lab: Lab, result: () => unknown): Promise<Seen> {
  const call = lab.deploy({ handler: effectThen(lab, result) });
  return { answers: [await call(EVENT), await call(EVENT)], effects: lab.effects };
}

function effectThen(lab: Lab, result: () => unknown) {
  return async () => {
    lab.makeOrder();
    return result();
  };
}

/** The same in every run. */
function likeRandom(length: number): string {
  return createHash("shake256", { outputLength: (length * 3) / 4 })
    .update("comparison")
    .digest("base64");
}

export const resultScenarios = [text, noise, date, bigInt, nothing] as const;
