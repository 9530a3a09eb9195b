/**
 * Which records of a batch failed, by the function's answer under ReportBatchItemFailures. Pure.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html#services-sqs-batchfailurereporting
 */

/** The ids of the failed records; `"all"` when Lambda treats the response as a failure of the whole batch. */
export function failedItems(payload: string, ids: ReadonlySet<string>): ReadonlySet<string> | "all" {
  const answer = parse(payload);
  if (answer === null) return new Set();
  if (typeof answer !== "object" || Array.isArray(answer)) return "all";
  const { batchItemFailures } = answer as { batchItemFailures?: unknown };
  if (batchItemFailures === undefined || batchItemFailures === null) return new Set();
  if (!Array.isArray(batchItemFailures)) return "all";
  const failed = new Set<string>();
  for (const failure of batchItemFailures) {
    const id: unknown = Object(failure).itemIdentifier;
    if (typeof id !== "string" || !ids.has(id)) return "all";
    failed.add(id);
  }
  return failed;
}

/** The ids of the records that come again. Without an answer (`undefined`) all of them do. */
export function failedIds(
  answer: string | undefined,
  ids: readonly string[],
  reportsItemFailures: boolean,
): ReadonlySet<string> {
  const all = new Set(ids);
  if (answer === undefined) return all;
  const failed = reportsItemFailures ? failedItems(answer, all) : new Set<string>();
  return failed === "all" ? all : failed;
}

/** `undefined` for a text that is not JSON. */
function parse(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    return undefined;
  }
}
