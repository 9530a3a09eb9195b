/** The rules that options must keep. One table per set of options; a broken rule is told before any I/O. */
import { MAX_LONG_RETENTION_SECONDS, MAX_RETENTION_SECONDS } from "../contract.ts";
import { InvalidOptionError } from "./errors.ts";
import { lacksValue, MAX_OPERATION_LENGTH } from "./identity.ts";
import type { EngineOptions } from "./options.ts";

/** A shorter lease leaves no time to repeat a renewal that fails. */
export const MIN_RENEWED_SECONDS = 5;

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

const [storeRule, isStore] = methods(
  "claim",
  "settle",
  "insert",
  "find",
  "loadResult",
  "checkEffects",
  "renew",
);
const [nameRule, isName] = text(64);
/** A name that every object has would find a step that is not there. */
export const stepName: Check = [
  `${nameRule} without control characters, and none that every object has`,
  // PostgreSQL has no NUL.
  (value) => isName(value) && !/\p{Cc}/u.test(value as string) && !((value as string) in {}),
];
export const [, isStepName] = stepName;
export const areStepNames = (value: unknown): boolean => Array.isArray(value) && value.every(isStepName);

const [waitRule, isWait] = seconds(0, 900);

export const ENGINE_CHECKS: Readonly<Record<keyof EngineOptions, Check>> = {
  operation: text(MAX_OPERATION_LENGTH),
  store: [`${storeRule}: give a store, such as \`new DynamoDBStore({ tableName })\``, isStore],
  fingerprint: [
    "must be a function or a list of functions",
    (value) => [value].flat().every((each) => typeof each === "function") && [value].flat().length > 0,
  ],
  retentionSeconds: seconds(1, MAX_LONG_RETENTION_SECONDS),
  longRetention: oneOf(true, false),
  leaseSeconds: seconds(0.001, 86_400),
  renewLease: oneOf(true, false),
  clockSkewSeconds: seconds(0, 3600),
  mode: oneOf("claimed", "optimistic"),
  lookFirst: oneOf(true, false),
  whenInProgress: [
    `must be "reject" or { waitSeconds, maxWaiters }: the first ${waitRule}, the second, if given, a whole number from 1 to 1000`,
    (value) => value === "reject" || isWaiting(value),
  ],
  whenAbandoned: [
    'must be "run", "hold" or a function',
    (value) => value === "run" || value === "hold" || typeof value === "function",
  ],
  steps: ["must be a list of names of 1 to 64 characters", areStepNames],
  whenStoreFails: oneOf("reject", "run"),
  whenKeyExpired: oneOf("run", "reject"),
  keyFormat: [
    'must be "uuid" or a regular expression',
    (value) => value === "uuid" || Object.prototype.toString.call(value) === "[object RegExp]",
  ],
  isFinalError: aFunction,
  shouldStore: aFunction,
  traceparent: aFunction,
  observe: aFunction,
  clock: methods("now", "sleep"),
  random: methods("token", "fraction"),
};

function isWaiting(value: unknown): boolean {
  const { waitSeconds, maxWaiters = 1, ...unknown } = Object(value) as Record<string, unknown>;
  const isCount =
    Number.isInteger(maxWaiters) && (maxWaiters as number) >= 1 && (maxWaiters as number) <= 1000;
  return isWait(waitSeconds) && isCount && Object.keys(unknown).length === 0;
}

/** Whether a name is none that a template made of a value that is not there: `undefined-orders`. */
export const isNamed = (name: string) => !lacksValue(name) && !/(?<![a-z])undefined(?![a-z])/i.test(name);

/**
 * Two operations whose names lack the same value would answer for each other.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function checkOperation({ operation }: EngineOptions): void {
  if (isNamed(operation)) return;
  throw new InvalidOptionError(
    "operation",
    "has the text of a value that is not there as a part, such as `undefined`: give a name that never changes",
  );
}

/** @throws InvalidOptionError (`INVALID_OPTION`) for a retention that is likely to be in milliseconds. */
export function checkRetention({ retentionSeconds = 0, longRetention }: EngineOptions): void {
  if (retentionSeconds <= MAX_RETENTION_SECONDS || longRetention) return;
  const rule = `is in seconds (a day is 86400) and must be at most ${MAX_RETENTION_SECONDS} (366 days), unless \`longRetention\` is true`;
  throw new InvalidOptionError("retentionSeconds", rule, retentionSeconds);
}

/** @throws InvalidOptionError (`INVALID_OPTION`) where an attempt has no claim that could be held. */
export function checkAbandoned({ whenAbandoned = "run", mode, whenStoreFails, store }: EngineOptions): void {
  if (whenAbandoned === "run") return;
  if (typeof store.unknownOutcomes !== "function") {
    throw new InvalidOptionError(
      "whenAbandoned",
      "must be left out with a store that has no `unknownOutcomes`: nobody would find what it holds. Give the store that method",
    );
  }
  if (mode !== "optimistic" && whenStoreFails !== "run") return;
  const rule =
    mode === "optimistic"
      ? "must be left out in the optimistic mode: nobody holds a claim there, so that none is abandoned"
      : 'must be left out where `whenStoreFails` is "run": such a run leaves no claim that could be held';
  throw new InvalidOptionError("whenAbandoned", rule);
}

/** @throws InvalidOptionError (`INVALID_OPTION`) for a lease that nobody could renew in time, or that is not there. */
export function checkRenewal({ renewLease, leaseSeconds, mode }: EngineOptions): void {
  if (!renewLease) return;
  if (mode === "optimistic") {
    throw new InvalidOptionError("renewLease", "has no lease to renew in the optimistic mode");
  }
  if (leaseSeconds === undefined || leaseSeconds >= MIN_RENEWED_SECONDS) return;
  const rule = `must be at least ${MIN_RENEWED_SECONDS} where \`renewLease\` is true`;
  throw new InvalidOptionError("leaseSeconds", rule, leaseSeconds);
}

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
