// Five ways to lose exactly-once, done to onceonly and to Powertools idempotency on the same real engines. What onceonly
// does is asserted; what Powertools does is printed.
import { afterAll, describe, expect, inject, it } from "vitest";
import { type Contestant, ONCEONLY, POWERTOOLS } from "./contestants.ts";
import { inLab } from "./lab.ts";
import {
  bigIntegersInBodies,
  bigIntegersInEvents,
  lostClaimAnswer,
  lostCompletion,
  type Run,
  refusedCompletion,
  type Seen,
  throttledCompletion,
  zombieCompletes,
  zombieFails,
} from "./runs.ts";

interface Row {
  readonly title: string;
  /** What is done, in the printed table. */
  readonly deed: string;
  readonly run: Run;
  readonly expected: Seen;
}

const ROWS: readonly Row[] = [
  {
    title: "H8: run A: wins its own claim when the answer to it was lost",
    deed: "A  the answer of the claim is lost; then a retry",
    run: lostClaimAnswer,
    expected: { effects: 1, answers: ["order 1", "order 1"] },
  },
  {
    title: "H1: run B: gives a zombie that completes the winner's result, and every later call too",
    deed: "B  a zombie completes after the winner: zombie, winner, third call",
    run: zombieCompletes,
    expected: { effects: 2, answers: ["order 2", "order 2", "order 2"] },
  },
  {
    title: "H2: run C: keeps the winner's record when a zombie fails late",
    deed: "C  a zombie fails after the winner completed: zombie, winner, third call",
    run: zombieFails,
    expected: { effects: 2, answers: ["TypeError", "order 2", "order 2"] },
  },
  {
    title: "H7: run D: repeats a completion that is throttled beyond the SDK's tries",
    deed: "D  the completion is throttled beyond the SDK's tries: first, retry, retry after the lease",
    run: throttledCompletion,
    expected: { effects: 1, answers: ["order 1", "order 1", "order 1"] },
  },
  {
    title: "H7: run D: leaves nothing behind when a commit cannot be written until the deadline",
    deed: "D  the same until the deadline, the effect is an order in DynamoDB",
    run: refusedCompletion,
    expected: { effects: 1, answers: ["StoreUnavailableError", "ExecutionInProgressError", "order 2"] },
  },
  {
    // At least once with a fence: no store can undo what happened elsewhere.
    title:
      "H3: H7: beyond run D: answers, and lets nobody run before the lease ends, when an effect outside stays unrecorded",
    deed: "D  the same until the deadline, the effect is outside DynamoDB",
    run: lostCompletion,
    expected: { effects: 2, answers: ["order 1", "ExecutionInProgressError", "order 2"] },
  },
  {
    title: "H17: run E: refuses events whose integers may have lost digits",
    deed: "E  two events that differ in a big integer",
    run: bigIntegersInEvents,
    expected: { effects: 0, answers: ["PayloadInvalidError", "PayloadInvalidError"] },
  },
  {
    title: "H17: run E: tells HTTP bodies apart by their bytes",
    deed: "E  two HTTP bodies that differ in a big integer, under one key",
    run: bigIntegersInBodies,
    expected: { effects: 1, answers: ["201 order 1", "422"] },
  },
];

describe.each(inject("dynamodbEngines"))("the red team on $name", ({ name, endpoint }) => {
  const lines: string[] = [];

  afterAll(() => {
    console.log(`effects, and what each call got, on ${name}\n${lines.join("\n")}`);
  });

  it.each(ROWS)("$title", async ({ deed, run, expected }) => {
    lines.push(deed);
    const seen = async (contestant: Contestant) => {
      const { effects, answers } = await inLab(contestant, endpoint, run);
      lines.push(`   ${contestant.name.padEnd(22)}  ${effects}  ${answers.map(shortened).join(", ")}`);
      return { effects, answers };
    };

    for (const contestant of POWERTOOLS) await seen(contestant);
    for (const contestant of ONCEONLY) expect(await seen(contestant), contestant.name).toEqual(expected);
  });
});

function shortened(answer: string): string {
  return answer.replace(/^Idempotency(\w+)Error$/, "$1");
}
