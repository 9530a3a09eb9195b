/** What a function's answer says about the records of its batch. Pure. https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html */
import { failedItems } from "../../event-sources/partial-batch.ts";
import type { Invocation } from "../../simulator/invocation.ts";
import { type Answer, failedAnswer, type Stage } from "../source.ts";

export interface BatchRecord {
  readonly id: string;
  /** What keeps its order, if anything does. */
  readonly group?: string | undefined;
}

/** The ids that come again: all of them where the answer is none. */
export function failedIn(
  invocation: Invocation,
  ids: readonly string[],
  { reportsItemFailures }: Pick<Stage, "reportsItemFailures">,
): ReadonlySet<string> {
  if (invocation.outcome !== "returned") return new Set(ids);
  if (!reportsItemFailures) return new Set();
  const failed = failedItems(JSON.stringify(invocation.value), new Set(ids));
  return failed === "all" ? new Set(ids) : failed;
}

/** The answer of a function that got a batch, with what it did to the order of its groups. */
export function batchAnswer(
  invocation: Invocation,
  records: readonly BatchRecord[],
  failed: ReadonlySet<string>,
): Answer {
  if (invocation.outcome !== "returned") return failedAnswer(invocation);
  const { number } = invocation;
  if (failed.size === 0) {
    return { isSuccess: true, invocation: number, words: records.length > 1 ? "all records done" : "done" };
  }
  const words = `${failed.size} of ${records.length} ${records.length > 1 ? "records" : "record"} returned`;
  const ids = records.map(({ id }) => id);
  const broken = misreportedIn(invocation.value, ids) ?? outOfOrder(records, failed);
  return { isSuccess: false, invocation: number, words, broken };
}

/** An answer that names no record of its batch: all of the batch comes again. */
export function misreportedIn(value: unknown, ids: readonly string[]): Answer["broken"] {
  const failures: unknown = Object(value).batchItemFailures;
  if (!Array.isArray(failures)) return undefined;
  const isKnown = (failure: unknown) => ids.includes(Object(failure).itemIdentifier);
  if (failures.every(isKnown)) return undefined;
  return {
    kind: "misreported",
    what: "batchItemFailures names what is not in the batch: all of it comes again",
  };
}

function outOfOrder(records: readonly BatchRecord[], failed: ReadonlySet<string>): Answer["broken"] {
  const stopped = new Set<string>();
  for (const { id, group } of records) {
    if (group === undefined) continue;
    if (failed.has(id)) stopped.add(group);
    else if (stopped.has(group)) {
      const what = "a record is reported as done although one before it in its group is returned";
      return { kind: "order", what };
    }
  }
  return undefined;
}
