/** The rules that options must keep. One table per set of options; a broken rule is told before any I/O. */
import { InvalidOptionError } from "./errors.ts";
import { MAX_OPERATION_LENGTH } from "./identity.ts";
import { isWellFormed } from "./json.ts";
import type { EngineOptions } from "./options.ts";

export type Check = readonly [rule: string, holds: (value: unknown) => boolean];

const isPositive = (value: unknown) => typeof value === "number" && Number.isFinite(value) && value > 0;

/** Ten years in seconds. Guards against milliseconds given as seconds. */
const MAX_SECONDS = 315_360_000;

export const isFunction = (value: unknown): boolean => typeof value === "function";

export const oneOf = (...values: readonly unknown[]): Check => [
  `must be ${values.map((value) => JSON.stringify(value)).join(" or ")}`,
  (value) => values.includes(value),
];

const hasMethods = (value: unknown, names: readonly string[]) =>
  typeof value === "object" &&
  value !== null &&
  names.every((name) => isFunction((value as Record<string, unknown>)[name]));

export const ENGINE_CHECKS: Readonly<Record<keyof EngineOptions, Check>> = {
  operation: [
    `must be well-formed text of 1 to ${MAX_OPERATION_LENGTH} characters`,
    (v) => typeof v === "string" && v.length > 0 && v.length <= MAX_OPERATION_LENGTH && isWellFormed(v),
  ],
  store: [
    "must be a store",
    (v) => hasMethods(v, ["claim", "settle", "insert", "find", "loadResult", "checkWrites"]),
  ],
  fingerprint: [
    "must be a function or a list of functions",
    (v) => isFunction(v) || (Array.isArray(v) && v.length > 0 && v.every(isFunction)),
  ],
  retentionSeconds: [
    `must be a whole number of seconds from 1 to ${MAX_SECONDS}`,
    (v) => Number.isInteger(v) && isPositive(v) && (v as number) <= MAX_SECONDS,
  ],
  leaseSeconds: [
    "must be a positive number of seconds up to 86400",
    (v) => isPositive(v) && (v as number) <= 86_400,
  ],
  clockSkewSeconds: [
    "must be a number of seconds from 0 to 3600",
    (v) => v === 0 || (isPositive(v) && (v as number) <= 3600),
  ],
  mode: oneOf("claimed", "optimistic"),
  lookFirst: oneOf(true, false),
  whenInProgress: [
    'must be "reject" or { waitSeconds } with a number from 0 to 900',
    (v) =>
      v === "reject" || (hasOnly(v, ["waitSeconds"]) && isWait((v as { waitSeconds: unknown }).waitSeconds)),
  ],
  whenStoreFails: oneOf("reject", "run"),
  whenKeyExpired: oneOf("run", "reject"),
  isFinalError: ["must be a function", isFunction],
  shouldStore: ["must be a function", isFunction],
  observe: ["must be a function", isFunction],
  clock: ["must have now() and sleep()", (v) => hasMethods(v, ["now", "sleep"])],
  random: ["must have token() and fraction()", (v) => hasMethods(v, ["token", "fraction"])],
};

function hasOnly(value: unknown, names: readonly string[]): boolean {
  return (
    typeof value === "object" && value !== null && Object.keys(value).every((name) => names.includes(name))
  );
}

function isWait(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= 900;
}

/**
 * Checks options against a table of rules. An option that is `undefined` counts as not given.
 * @throws InvalidOptionError (`INVALID_OPTION`) naming option, rule and value.
 */
export function checkOptions(
  options: unknown,
  checks: Readonly<Record<string, Check>>,
  required: readonly string[],
): void {
  if (typeof options !== "object" || options === null) {
    throw new InvalidOptionError("options", "must be an object", options);
  }
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(checks, name)) {
      throw new InvalidOptionError(name, `is unknown; known are ${Object.keys(checks).join(", ")}`, value);
    }
    const [rule, holds] = checks[name] as Check;
    if (value !== undefined && !holds(value)) throw new InvalidOptionError(name, rule, value);
  }
  for (const name of required) {
    if ((options as Record<string, unknown>)[name] === undefined) {
      throw new InvalidOptionError(name, `is required and ${checks[name]?.[0]}`, undefined);
    }
  }
}
