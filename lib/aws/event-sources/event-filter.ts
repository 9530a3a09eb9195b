/**
 * FilterCriteria: the records that an event source passes to its function. Pure; an unknown rule is an error.
 * https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html#filtering-syntax
 */

export type EventFilter = (record: unknown) => boolean;

type Pattern = Readonly<Record<string, unknown>>;

/** @param criteria from the template; without filters every record passes */
export function eventFilter(criteria: unknown): EventFilter {
  const filters: unknown[] = Object(criteria).Filters ?? [];
  const patterns = filters.map((filter) => patternOf(Object(filter).Pattern));
  return patterns.length === 0 ? () => true : (record) => patterns.some((each) => matches(record, each));
}

function patternOf(text: unknown): Pattern {
  const pattern: unknown = typeof text === "string" ? JSON.parse(text) : text;
  checkPattern(pattern);
  return pattern;
}

function checkPattern(pattern: unknown): asserts pattern is Pattern {
  if (typeof pattern !== "object" || pattern === null) {
    throw new Error(`a filter pattern is made of objects and lists of rules, got ${JSON.stringify(pattern)}`);
  }
  if (Array.isArray(pattern)) return pattern.forEach(checkRule);
  for (const [key, part] of Object.entries(pattern)) {
    if (key === "$or" && Array.isArray(part)) part.forEach(checkPattern);
    else checkPattern(part);
  }
}

function checkRule(rule: unknown): void {
  if (typeof rule !== "object" || rule === null) return;
  const names = Object.keys(rule);
  if (names.length === 1 && Object.hasOwn(RULES, String(names[0]))) return;
  throw new Error(
    `the filter rule ${JSON.stringify(rule)} is not known here: use one of ${Object.keys(RULES).join(", ")}`,
  );
}

function matches(value: unknown, pattern: Pattern): boolean {
  return Object.entries(pattern).every(([key, part]) => {
    if (key === "$or" && Array.isArray(part)) return part.some((each: Pattern) => matches(value, each));
    const child = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    if (!Array.isArray(part)) return matches(child, part as Pattern);
    // A list matches when one of its entries does.
    const candidates = Array.isArray(child) && child.length > 0 ? child : [child];
    return part.some((rule) => candidates.some((each) => matchesRule(each, rule)));
  });
}

function matchesRule(value: unknown, rule: unknown): boolean {
  if (!isObject(rule)) return value === rule;
  const [name, argument] = Object.entries(rule)[0] as [string, unknown];
  return RULES[name]?.(value, argument) ?? false;
}

const RULES: Readonly<Record<string, (value: unknown, argument: unknown) => boolean>> = {
  // `exists` is about leaves only: an object does not count.
  exists: (value, argument) => (value !== undefined && !isObject(value)) === argument,
  prefix: (value, argument) => typeof value === "string" && value.startsWith(String(argument)),
  suffix: (value, argument) => typeof value === "string" && value.endsWith(String(argument)),
  "equals-ignore-case": (value, argument) =>
    typeof value === "string" && value.toLowerCase() === String(argument).toLowerCase(),
  "anything-but": (value, argument) => {
    if (value === undefined) return false;
    return ![argument].flat().some((each) => matchesRule(value, each));
  },
  numeric: (value, argument) => {
    if (typeof value !== "number" || !Array.isArray(argument)) return false;
    for (let index = 0; index < argument.length; index += 2) {
      if (!compare(value, String(argument[index]), Number(argument[index + 1]))) return false;
    }
    return true;
  },
};

function compare(value: number, operator: string, bound: number): boolean {
  switch (operator) {
    case "=":
      return value === bound;
    case "<":
      return value < bound;
    case "<=":
      return value <= bound;
    case ">":
      return value > bound;
    case ">=":
      return value >= bound;
    default:
      throw new Error(`the numeric rule ${operator} is not known: use =, <, <=, > or >=`);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
