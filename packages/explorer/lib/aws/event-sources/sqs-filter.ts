/**
 * FilterCriteria on messages: some filters expect JSON in the body, others text. Pure.
 * https://docs.aws.amazon.com/lambda/latest/dg/with-sqs-filtering.html
 */
import { type EventFilter, eventFilter } from "./event-filter.ts";

/** A pattern for JSON drops text bodies, and a pattern for text drops JSON bodies. */
export function sqsFilter(criteria: unknown): EventFilter {
  const passes = eventFilter(criteria);
  return (record) => passes({ ...Object(record), body: jsonOrText(Object(record).body) });
}

function jsonOrText(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? value : body;
  } catch {
    return body;
  }
}
