// The section of docs/proof/benchmarks.md about batches of messages. Pure.
import type { BatchFigures, PartFigures } from "../batch/compare-batches.ts";
import { VISIBILITY_SECONDS } from "../batch/consumer.ts";
import { CRASH_SHARE, LOST_SHARE } from "../batch/faults.ts";
import { MESSAGES_OF_A_BATCH } from "../batch/message-stream.ts";
import type { TrialResult } from "../batch/trial.ts";
import { median } from "../timing/median.ts";
import { exactCount, percent, ratio } from "./format.ts";
import { markdownTable } from "./markdown.ts";

type Column = readonly [title: string, show: (result: TrialResult, peer: TrialResult) => string];

const COSTS: readonly Column[] = [
  ["messages delivered", ({ deliveries }) => exactCount(deliveries)],
  ["requests", ({ requests }) => exactCount(requests)],
  ["write units", ({ writeUnits }) => exactCount(writeUnits)],
  ["read units", ({ readUnits }) => exactCount(readUnits)],
];

const WRONG_EFFECTS: readonly Column[] = [
  ["wrong effects: more than once", ({ doubled }) => exactCount(doubled)],
  ["wrong effects: missing", ({ missing }) => exactCount(missing)],
];

const THROUGHPUT: Column = ["throughput, to Powertools", (own, peer) => ratio(throughputTo(peer, own))];
const WALL: readonly Column[] = [
  ["requests for each message", ({ requests, deliveries }) => (requests / deliveries).toFixed(2)],
  ["wall time of a batch", ({ batchMs }) => `${batchMs.toFixed(0)} ms`],
  ["wall time, to Powertools", (own, peer) => ratio(own.batchMs / peer.batchMs, 2)],
];
const CRASHES: Column = ["crashes", ({ crashes }) => exactCount(crashes)];
const LOST_ANSWERS: Column = ["answers lost", ({ lostAnswers }) => exactCount(lostAnswers)];

export function batchSection(figures: BatchFigures): string {
  const { concurrency, withoutFaults, withCrashes, withLostAnswers, ofHundred } = figures;
  const { messages, orders, places } = withoutFaults;
  return `## Batches of messages

A stream of ${exactCount(messages)} SQS messages about ${exactCount(orders)} orders, in batches of ${MESSAGES_OF_A_BATCH}, by ${concurrency} invocations at a time with an
execution environment each. ${exactCount(messages - orders)} messages repeat an earlier one under another message id. ${exactCount(places.sameBatch)} of them are in the same
batch, ${exactCount(places.nextBatches)} in one of the ${concurrency - 1} batches after it that run meanwhile, and ${exactCount(places.later)} later. The effect of a message
adds 1 to a counter of its order, so a repeated effect shows.

- onceonly is \`idempotentBatch\` with its defaults, claimed or optimistic; a row says if \`groupRequests\` is set. The effect is in its commit, or the handler
  writes the effect itself, as with Powertools. "Lean" uses the client of \`onceonly/lean\`. SDK requests
  are counted in the client's middleware, so all of them go through \`send\` here.
- Powertools is \`processPartialResponse\` with a \`BatchProcessor\`, in parallel, around \`makeIdempotent\`, as its
  documentation combines the two: the context is registered in each invocation. Its local cache, which is off by default,
  is on: it saves requests here.
- Both read the key from the body, because the message id that Powertools' example uses differs in a second send. They check the
  body against the key, return the same result, and keep it for a day. Their clients have the same settings.
- What an invocation returns, and the whole batch of one that failed, is delivered again after the visibility timeout.
  That is ${VISIBILITY_SECONDS} seconds, six times the function's timeout. The benchmark doesn't wait for it: it moves the time that both packages and the SDK read.
  Neither needs an option for that; onceonly only gets alarms that don't outlive a process.

${trialTable(withoutFaults, [...COSTS, ...WRONG_EFFECTS, THROUGHPUT])}

- The counts differ a little from run to run, with how many duplicates meet their original at work. Such a duplicate is
  delivered again. In the same batch, \`idempotentBatch\` makes it wait instead. In the optimistic mode there is no
  claim, and the loser of the race costs a refused transaction.
- Units are counted as above. AWS doesn't document the charge for a refused transaction, so it's counted
  like one that was applied. Local engines don't report everything that grouped requests cost, so each statement counts like a
  separate write, and each item of a transaction counts 2.
- The throughput is measured, in ${withoutFaults.sections} sections of the stream in which the contestants take turns: the median of the
  ratios.

### With crashes

The first ${exactCount(withCrashes.messages)} messages of the stream. In ${percent(CRASH_SHARE)} of the writes of an effect the process dies. In half of them it dies just
before it sends that write, in half after the engine has applied it. The other messages of its batch die with it,
wherever they are. If the effect is a separate request, it may then be there although its record isn't complete, and both
packages run that message again. A commit can't end like that.

${trialTable(withCrashes, [CRASHES, ...COSTS, ...WRONG_EFFECTS])}

### With lost answers

The same messages. In ${percent(LOST_SHARE)} of the requests the engine carries out what it was asked, and the connection is closed before the
answer comes. The SDK sends the request again. A counter that the handler increments itself then counts twice,
whichever package called the handler. A commit is sent again as the same transaction.

${trialTable(withLostAnswers, [LOST_ANSWERS, ...COSTS, ...WRONG_EFFECTS])}
${ofHundred ? hundredSection(ofHundred) : ""}`;
}

function hundredSection(part: PartFigures): string {
  return `
### Batches of 100 with work

${exactCount(part.messages)} messages in batches of 100, one invocation at a time. Each handler works for 5 to 50 ms before it writes its effect. The
requests include the handlers' own, and the wall time is the median over the invocations. Lambda bills wall time.

${trialTable(part, [...WALL, ...WRONG_EFFECTS])}
`;
}

function trialTable({ results }: PartFigures, columns: readonly Column[]): string {
  const peer = Object.values(results).at(-1) as TrialResult;
  const rows = Object.entries(results).map(([name, result]) => [
    name,
    ...columns.map(([, show]) => show(result, peer)),
  ]);
  return markdownTable([["", ...columns.map(([title]) => title)], ...rows]);
}

/** The median over the sections: each was consumed by both within a short time. */
function throughputTo(peer: TrialResult, own: TrialResult): number {
  return median(own.sectionMs.map((ms, section) => (peer.sectionMs[section] as number) / ms));
}
