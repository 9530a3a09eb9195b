/**
 * A stream and its event source mapping: one batch at a time, repeated from its first failure on until
 * everything is done. https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
 */
import { failedIds } from "../../aws/event-sources/partial-batch.ts";
import { answerIn } from "../../simulator/invocation.ts";
import { failedAnswer, type Source, type SourceAnswer, type SourceStage } from "../source.ts";
import { misreportedIn, namesFailures } from "./batch-answer.ts";
import { batchLike, recordsIn } from "./records-in.ts";

interface BatchedRecord {
  readonly eventID?: string;
  readonly dynamodb?: { readonly SequenceNumber?: string };
  readonly kinesis?: { readonly sequenceNumber?: string };
}

const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 60_000;

export const streamSource: Source = {
  kind: "stream",
  sender: "the stream",
  prepare() {},
  async deliver(stage) {
    const { clock, patienceMs, note } = stage;
    const until = clock.now() + patienceMs;
    let rest = recordsOf(stage);
    for (let waitMs = FIRST_WAIT_MS; rest.length > 0; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
      const handed = await handOn(stage, rest);
      note(handed.answer);
      rest = handed.rest;
      if (rest.length === 0 || clock.now() >= until) return;
      await clock.sleep(waitMs);
    }
  },
  async repeat(stage) {
    return (await handOn(stage, recordsOf(stage))).answer;
  },
};

async function handOn(
  stage: SourceStage,
  records: readonly BatchedRecord[],
): Promise<{ readonly answer: SourceAnswer; readonly rest: readonly BatchedRecord[] }> {
  const invocation = await stage.fn.invoke(batchLike(stage.event, structuredClone(records)));
  const ids = records.map(Array.isArray(stage.event) ? eventIdOf : sequenceOf);
  const failed = failedIds(answerIn(invocation), ids, stage.reportsItemFailures);
  const first = ids.findIndex((id) => failed.has(id));
  const { number } = invocation;
  if (first < 0) {
    const isUnread = invocation.outcome === "returned" && namesFailures(invocation.value);
    return { answer: { isSuccess: true, invocation: number, words: "done", isUnread }, rest: [] };
  }
  const rest = records.slice(first);
  if (invocation.outcome !== "returned") return { answer: failedAnswer(invocation), rest };
  const words = `record ${first + 1} of ${records.length} returned`;
  const broken = misreportedIn(invocation.value, ids);
  return { answer: { isSuccess: false, invocation: number, words, broken }, rest };
}

const recordsOf = ({ event }: SourceStage) => recordsIn<BatchedRecord>(event);

/** The id that a pipe reads. */
const eventIdOf = ({ eventID = "" }: BatchedRecord): string => eventID;

function sequenceOf({ dynamodb, kinesis }: BatchedRecord): string {
  return dynamodb?.SequenceNumber ?? kinesis?.sequenceNumber ?? "";
}
