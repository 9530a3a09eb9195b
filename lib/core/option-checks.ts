/** Rules for options, and the check of a set of options against its table of rules. Each table stands next to its options. */
import { InvalidOptionError } from "./errors.ts";
import { lacksValue } from "./identity.ts";

/**
 * `explicit` where leaving the option out means something that nobody may get by mistake: then an `undefined` that is
 * given is a wrong value.
 */
export type Check = readonly [rule: string, holds: (value: unknown) => boolean, explicit?: "explicit"];

export const aFunction: Check = ["must be a function", (value) => typeof value === "function"];

export const oneOf = (...values: readonly unknown[]): Check => [
  `must be one of ${JSON.stringify(values)}`,
  (value) => values.includes(value),
];

export const text = (max: number): Check => [
  `must be well-formed text of 1 to ${max} characters`,
  (value) => typeof value === "string" && value !== "" && value.length <= max && value.isWellFormed(),
];

export const seconds = (min: number, max: number): Check => [
  `must be a number of seconds from ${min} to ${max}`,
  (value) => typeof value === "number" && value >= min && value <= max,
];

export const methods = (...names: readonly string[]): Check => [
  `must be an object with the methods ${names.join(", ")}`,
  (value) => names.every((name) => typeof (value as Record<string, unknown> | null)?.[name] === "function"),
];

const [nameRule, isName] = text(64);
/** A name that every object has would find a step that is not there. */
export const stepName: Check = [
  `${nameRule} without control characters, and none that every object has`,
  // PostgreSQL has no NUL.
  (value) => isName(value) && !/\p{Cc}/u.test(value as string) && !((value as string) in {}),
];
export const [, isStepName] = stepName;
export const areStepNames = (value: unknown): boolean => Array.isArray(value) && value.every(isStepName);

/** Whether a name is none that a template made of a value that is not there: `undefined-orders`. */
export const isNamed = (name: string) => !lacksValue(name) && !/(?<![a-z])undefined(?![a-z])/i.test(name);

/**
 * Checks options against a table of rules. An option that is `undefined` counts as not given, unless its rule says
 * otherwise.
 * @throws InvalidOptionError (`INVALID_OPTION`) naming option, rule and what kind of value it got.
 */
export function checkOptions(
  options: object,
  checks: Readonly<Record<string, Check>>,
  required: readonly string[],
): void {
  // A caller without types may pass anything at all, and text would spread into its characters.
  if (Object(options) !== options) throw new InvalidOptionError("options", "must be an object", options);
  const given: Record<string, unknown> = { ...options };
  for (const name of new Set([...Object.keys(given), ...required])) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    const value = given[name];
    if (check === undefined) {
      throw new InvalidOptionError(name, `is unknown: known are ${Object.keys(checks).join(", ")}`);
    }
    const [rule, holds, explicit] = check;
    if ((value !== undefined || explicit || required.includes(name)) && !holds(value)) {
      throw new InvalidOptionError(name, rule, value);
    }
  }
}

/**
 * Checks what is given as an argument of its own.
 * @param hint what to give
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function checkMethods(option: string, given: unknown, names: readonly string[], hint: string): void {
  const [rule, holds] = methods(...names);
  if (!holds(given)) throw new InvalidOptionError(option, `${rule}: ${hint}`, given);
}
