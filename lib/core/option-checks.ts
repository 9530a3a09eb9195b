/** Rules for options, and the check of a set of options against its table of rules. Each table stands next to its options. */
import { InvalidOptionError } from "./errors.ts";
import { lacksValue } from "./identity.ts";
import { nearest, suggestion } from "./nearest.ts";

/**
 * `explicit` if leaving the option out has an effect that must not happen by mistake: an explicit `undefined` is then a wrong
 * value. `meant` guesses the value that the user had in mind, for the message.
 */
export type Check = readonly [
  rule: string,
  holds: (value: unknown) => boolean,
  explicit?: "explicit" | undefined,
  meant?: (value: unknown) => unknown,
];

export const aFunction: Check = ["must be a function", (value) => typeof value === "function"];

export const oneOf = (...values: readonly unknown[]): Check => {
  const shown = values.map((value) => JSON.stringify(value));
  const words = values.filter((value) => typeof value === "string");
  return [
    `must be ${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`,
    (value) => values.includes(value),
    undefined,
    (value) => (typeof value === "string" ? quoted(nearest(value, words)) : undefined),
  ];
};

const quoted = (word: string | undefined) => word && JSON.stringify(word);

export const text = (max: number): Check => [
  `must be a string of 1 to ${max} characters`,
  (value) => typeof value === "string" && value !== "" && value.length <= max && value.isWellFormed(),
];

export const seconds = (min: number, max: number): Check => {
  const holds = (value: unknown) => typeof value === "number" && value >= min && value <= max;
  return [
    `must be a number of seconds between ${min} and ${max}`,
    holds,
    undefined,
    // Too many seconds are probably milliseconds.
    (value) => (Number(value) > max && holds(Number(value) / 1000) ? Number(value) / 1000 : undefined),
  ];
};

export const methods = (...names: readonly string[]): Check => instance("", ...names);

/** `what` describes the expected value in the user's terms. */
export const instance = (what: string, ...names: readonly string[]): Check => [
  `must be ${what ? `${what}; it needs` : "an object with"} the method${names.length === 1 ? "" : "s"} ${names.join(", ")}`,
  (value) => names.every((name) => typeof (value as Record<string, unknown> | null)?.[name] === "function"),
];

const [nameRule, isName] = text(64);
/** A name that every object inherits would find a step that doesn't exist. */
export const stepName: Check = [
  `${nameRule} without control characters, and not the name of a property that every object has`,
  // PostgreSQL can't store NUL.
  (value) => isName(value) && !/\p{Cc}/u.test(value as string) && !((value as string) in {}),
];
export const [, isStepName] = stepName;
export const areStepNames = (value: unknown): boolean => Array.isArray(value) && value.every(isStepName);

/** False for a name that a template literal made from an unset variable: `undefined-orders`. */
export const isNamed = (name: string) => !lacksValue(name) && !/(?<![a-z])undefined(?![a-z])/i.test(name);

/**
 * Checks options against a table of rules. An `undefined` option counts as missing, unless its rule says otherwise.
 * @throws InvalidOptionError (`INVALID_OPTION`) naming option, rule and the kind of value it got.
 */
export function checkOptions(
  options: object,
  checks: Readonly<Record<string, Check>>,
  required: readonly string[],
): void {
  // Untyped callers may pass anything, and a string would spread into its characters.
  if (Object(options) !== options) {
    const example = required.map((name) => `${name}: …`).join(", ");
    throw new InvalidOptionError(
      "options",
      `must be an object${example && ` such as { ${example} }`}`,
      options,
    );
  }
  const given: Record<string, unknown> = { ...options };
  for (const name of new Set([...Object.keys(given), ...required])) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    const value = given[name];
    if (check === undefined) {
      const valid = Object.keys(checks);
      throw new InvalidOptionError(name, `isn't an option ${suggestion(name, valid, "valid options")}`);
    }
    const [rule, holds, explicit, meant] = check;
    if ((value !== undefined || explicit || required.includes(name)) && !holds(value)) {
      throw new InvalidOptionError(name, rule, value, meant?.(value));
    }
  }
}

/**
 * Checks a single argument.
 * @param what the expected value
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function checkMethods(option: string, given: unknown, names: readonly string[], what: string): void {
  const [rule, holds] = instance(what, ...names);
  if (!holds(given)) throw new InvalidOptionError(option, rule, given);
}
