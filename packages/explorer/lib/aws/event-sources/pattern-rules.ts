/**
 * The rules for one value in a pattern, such as `{ "prefix": "eu-" }`, and who knows which of them. Pure.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
 */
import { BlockList, isIP } from "node:net";

type MatchesRule = (value: unknown, argument: unknown) => boolean;

/** Event source mappings. */
export const LAMBDA_RULES = [
  "exists",
  "prefix",
  "suffix",
  "equals-ignore-case",
  "anything-but",
  "numeric",
] as const;
/** Filter policies of topics: https://docs.aws.amazon.com/sns/latest/dg/sns-subscription-filter-policies.html */
export const SNS_RULES = [...LAMBDA_RULES, "cidr"] as const;
/** Rules of event buses. */
export const BUS_RULES = [...SNS_RULES, "wildcard"] as const;

export type RuleName = (typeof BUS_RULES)[number];

/** @throws Error for a rule that is not among those, or whose argument means nothing */
export function checkRule(rule: unknown, known: readonly RuleName[]): void {
  if (!isObject(rule)) return;
  const [[name, argument] = [], another] = Object.entries(rule);
  if (another !== undefined || !known.includes(name as RuleName)) {
    throw new Error(`unknown filter rule ${JSON.stringify(rule)}: use one of ${known.join(", ")}`);
  }
  if (name === "numeric") numericParts(argument);
  if (name === "cidr") subnet(String(argument));
  if (name === "anything-but" || name === "prefix" || name === "suffix") {
    for (const inner of [argument].flat()) checkRule(inner, known);
  }
}

export function matchesRule(value: unknown, rule: unknown): boolean {
  if (!isObject(rule)) return value === rule;
  const [name, argument] = Object.entries(rule)[0] as [RuleName, unknown];
  return RULES[name](value, argument);
}

const RULES: Readonly<Record<RuleName, MatchesRule>> = {
  // `exists` is about leaves only: an object does not count.
  exists: (value, argument) => (value !== undefined && !isObject(value)) === argument,
  prefix: ofText((text, start) => text.startsWith(start)),
  suffix: ofText((text, end) => text.endsWith(end)),
  "equals-ignore-case": ofText((text, other) => text.toLowerCase() === other.toLowerCase()),
  wildcard: ofText((text, pattern) => wildcard(pattern).test(text)),
  cidr: (value, argument) => {
    const family = isIP(String(value));
    return family !== 0 && subnet(String(argument)).check(String(value), family === 4 ? "ipv4" : "ipv6");
  },
  "anything-but": (value, argument) => {
    if (value === undefined) return false;
    return ![argument].flat().some((each) => matchesRule(value, each));
  },
  numeric: (value, argument) =>
    typeof value === "number" &&
    numericParts(argument).every(([operator, bound]) => COMPARISONS[operator]?.(value, bound)),
};

/** A string or an array of strings; a bus also accepts `{ "equals-ignore-case": … }` in place of a string. */
function ofText(holds: (text: string, argument: string) => boolean): MatchesRule {
  return (value, argument) => {
    if (typeof value !== "string") return false;
    return [argument].flat().some((each) => {
      if (!isObject(each)) return holds(value, String(each));
      return holds(value.toLowerCase(), String(each["equals-ignore-case"]).toLowerCase());
    });
  };
}

/** A star is any text, and `\*` a star. */
function wildcard(pattern: string): RegExp {
  const source = pattern.replaceAll(/\\([*\\])|\*|[^*\\]+|\\/g, (part, escaped?: string) =>
    part === "*" ? ".*" : (escaped ?? part).replaceAll(/[.*+?^${}()|[\]\\/-]/g, "\\$&"),
  );
  return new RegExp(`^${source}$`, "s");
}

function subnet(text: string): BlockList {
  const [address = "", bits = ""] = text.split("/");
  const family = isIP(address);
  if (family === 0 || !/^\d{1,3}$/.test(bits))
    throw new Error(`a cidr must look like 10.0.0.0/24 (got ${text})`);
  const list = new BlockList();
  list.addSubnet(address, Number(bits), family === 4 ? "ipv4" : "ipv6");
  return list;
}

const COMPARISONS: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  "=": (value, bound) => value === bound,
  "<": (value, bound) => value < bound,
  "<=": (value, bound) => value <= bound,
  ">": (value, bound) => value > bound,
  ">=": (value, bound) => value >= bound,
};

function numericParts(argument: unknown): [operator: string, bound: number][] {
  const parts = Array.isArray(argument) ? argument : [];
  const pairs: [string, number][] = [];
  for (let index = 0; index < parts.length; index += 2) {
    const operator = String(parts[index]);
    if (!Object.hasOwn(COMPARISONS, operator)) {
      throw new Error(`unknown numeric rule ${operator}: use =, <, <=, > or >=`);
    }
    pairs.push([operator, Number(parts[index + 1])]);
  }
  return pairs;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
