/**
 * FilterCriteria on messages, whose bodies are JSON for some filters and text for others. Pure.
 * https://docs.aws.amazon.com/lambda/latest/dg/with-sqs-filtering.html
 */
import { type EventFilter, eventFilter } from "./event-filter.ts";

/** A pattern for a JSON body drops text, and one for text drops JSON. */
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
