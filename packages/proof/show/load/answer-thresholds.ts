// The answers that the clients must get: each of them, the same for one key, and nothing unexpected. Pure.
import { groupBy } from "../demo/group-by.ts";
import { type Answer, nameOf } from "../demo/seen.ts";
import type { Observed } from "./observed.ts";
import { noneOf, type Threshold } from "./threshold.ts";

/** The order, or that another call is working on it; the refusal of another body. */
const STATUSES_OF = { order: [201, 409], "other-body": [422] } as const;
const WORDS_OF = { order: "an order", "other-body": "another body" } as const;
/** The service reports that its store fails, as it may under injected faults. */
const STORE_FAILED = 503;

export function answerThresholds(
  { sent, answers, stuck }: Pick<Observed, "sent" | "answers" | "stuck">,
  { hasFaults }: { readonly hasFaults: boolean },
): Threshold[] {
  const { unanswered, connectionErrors, timeouts } = sent;
  const isExpected = ({ asked, status }: Answer) =>
    (STATUSES_OF[asked] as readonly number[]).includes(status) || (hasFaults && status === STORE_FAILED);
  const unexpected = answers.filter((answer) => !isExpected(answer));
  return [
    {
      name: "requests without an answer",
      expected: 0,
      found: unanswered,
      off:
        unanswered > 0 ? [`${connectionErrors} connections failed, ${timeouts} answers took too long`] : [],
    },
    noneOf(
      "unexpected statuses",
      unexpected.map(({ asked, status }) => `${WORDS_OF[asked]} was answered with ${status}`),
    ),
    noneOf("keys with different answers", differences(answers)),
    noneOf("keys that are stuck", stuck.map(nameOf)),
  ];
}

function differences(answers: readonly Answer[]): string[] {
  const successes = answers.filter(({ status }) => status === 201);
  return [...groupBy(successes, nameOf)].flatMap(([name, own]) => {
    const { size } = new Set(own.map(({ location, body }) => `${location} ${body}`));
    return size > 1 ? [`${name}: ${size} different answers`] : [];
  });
}
