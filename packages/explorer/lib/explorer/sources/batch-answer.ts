/**
 * Which records of a batch failed, by the function's answer. Pure.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
import { failedIds } from "../../aws/event-sources/partial-batch.ts";
import type { SqsEventRecord } from "../../aws/event-sources/sqs-record.ts";
import { answerIn, type Invocation } from "../../simulator/invocation.ts";
import { failedAnswer, type SourceAnswer } from "../source.ts";

export interface BatchEvent {
  readonly Records: readonly SqsEventRecord[];
}

/** The response of a function that got a batch, and the order of its groups if that order was broken. */
export function batchAnswer(
  invocation: Invocation,
  { Records: records }: BatchEvent,
  reportsItemFailures: boolean,
): SourceAnswer {
  if (invocation.outcome !== "returned") return failedAnswer(invocation);
  const { number } = invocation;
  const ids = records.map(({ messageId }) => messageId);
  const failed = failedIds(answerIn(invocation), ids, reportsItemFailures);
  if (failed.size === 0) {
    const isUnread = !reportsItemFailures && namesFailures(invocation.value);
    const words = records.length > 1 ? "all records done" : "done";
    return { isSuccess: true, invocation: number, words, isUnread };
  }
  const words = `${failed.size} of ${records.length} ${records.length > 1 ? "records" : "record"} returned`;
  const broken = misreportedIn(invocation.value, ids) ?? outOfOrder(records, failed);
  return { isSuccess: false, invocation: number, words, broken };
}

export function namesFailures(value: unknown): boolean {
  return Object(Object(value).batchItemFailures).length > 0;
}

/** An answer with a record that is not in the batch: the whole batch comes again. */
export function misreportedIn(value: unknown, ids: readonly string[]): SourceAnswer["broken"] {
  const failures: unknown = Object(value).batchItemFailures;
  if (!Array.isArray(failures)) return undefined;
  const isKnown = (failure: unknown) => ids.includes(Object(failure).itemIdentifier);
  if (failures.every(isKnown)) return undefined;
  return {
    kind: "misreported",
    what: "batchItemFailures names records that aren't in the batch: the whole batch is delivered again",
  };
}

function outOfOrder(records: readonly SqsEventRecord[], failed: ReadonlySet<string>): SourceAnswer["broken"] {
  const stopped = new Set<string>();
  for (const { messageId, attributes } of records) {
    const group = attributes.MessageGroupId;
    if (group === undefined) continue;
    if (failed.has(messageId)) stopped.add(group);
    else if (stopped.has(group)) {
      const what = "a record is reported as done although an earlier one of its group was returned";
      return { kind: "order", what };
    }
  }
  return undefined;
}
