/**
 * Patterns: the records that an event source passes to its function, and the events and messages that a rule or a
 * subscription accepts. Pure; an unknown rule is an error.
 * https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html#filtering-syntax
 */
import { checkRule, isObject, LAMBDA_RULES, matchesRule, type RuleName } from "./pattern-rules.ts";

export type EventFilter = (record: unknown) => boolean;

type Pattern = Readonly<Record<string, unknown>>;

/** @param criteria from the template; without filters every record passes */
export function eventFilter(criteria: unknown): EventFilter {
  const filters: unknown[] = Object(criteria).Filters ?? [];
  const passes = filters.map((filter) => patternFilter(Object(filter).Pattern, LAMBDA_RULES));
  return passes.length === 0 ? () => true : (record) => passes.some((pass) => pass(record));
}

/**
 * @param text a pattern, or its JSON
 * @throws Error for a value that isn't a pattern, or a pattern with an unknown rule
 */
export function patternFilter(text: unknown, known: readonly RuleName[]): EventFilter {
  const pattern: unknown = typeof text === "string" ? JSON.parse(text) : text;
  checkPattern(pattern, known);
  return (record) => matches(record, pattern);
}

function checkPattern(pattern: unknown, known: readonly RuleName[]): asserts pattern is Pattern {
  if (typeof pattern !== "object" || pattern === null) {
    throw new Error(
      `a filter pattern consists of objects and arrays of rules (got ${JSON.stringify(pattern)}`,
    );
  }
  if (Array.isArray(pattern)) {
    for (const rule of pattern) checkRule(rule, known);
    return;
  }
  for (const [key, part] of Object.entries(pattern)) {
    if (key === "$or" && Array.isArray(part)) for (const each of part) checkPattern(each, known);
    else checkPattern(part, known);
  }
}

function matches(value: unknown, pattern: Pattern): boolean {
  return Object.entries(pattern).every(([key, part]) => {
    if (key === "$or" && Array.isArray(part)) return part.some((each: Pattern) => matches(value, each));
    const child = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    // A list matches when one of its entries does.
    const candidates = Array.isArray(child) && child.length > 0 ? child : [child];
    return Array.isArray(part)
      ? part.some((rule) => candidates.some((each) => matchesRule(each, rule)))
      : candidates.some((each) => matches(each, part as Pattern));
  });
}
