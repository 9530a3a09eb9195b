/** The engine's options after the checks: with all defaults, and in the form that the engine works with. */
import { checkEngineOptions, DEFAULTS, type EngineOptions, MIN_RENEWED_SECONDS } from "./options.ts";
import { isLambda, isManagedInstance } from "./platform.ts";
import { withDefaults } from "./with-defaults.ts";

export type ResolvedOptions<Write = unknown> = Required<
  Omit<
    EngineOptions<Write>,
    "leaseSeconds" | "renewLease" | "fingerprint" | "keyFormat" | "traceparent" | "steps"
  >
> & {
  readonly traceparent?: EngineOptions["traceparent"];
  readonly steps?: EngineOptions["steps"];
  readonly leaseSeconds: number | undefined;
  readonly renewal: "always" | "untimed" | "never";
  readonly keyPattern: RegExp | undefined;
  readonly fingerprints: readonly ((input: unknown) => unknown)[];
};

const UUID = /[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}/i;

/**
 * A copy that matches the whole key, with the same answer each time. The flags g and y keep a state, and m matches at line
 * ends.
 */
function keyPatternOf(format: "uuid" | RegExp): RegExp {
  const { source, flags } = format === "uuid" ? UUID : format;
  return new RegExp(`^(?:${source})$`, flags.replace(/[gmy]/g, ""));
}

function renewalOf({ renewLease, leaseSeconds, mode }: EngineOptions): ResolvedOptions["renewal"] {
  if (mode === "optimistic") return "never";
  if (renewLease ?? isManagedInstance()) return "always";
  const isOff = renewLease === false || isLambda() || (leaseSeconds ?? 0) < MIN_RENEWED_SECONDS;
  return isOff ? "never" : "untimed";
}

/**
 * Numbers that were probably meant in milliseconds: long (`from`), round in milliseconds, and not round in the unit that people
 * use for such a time.
 */
const MILLISECONDS = [
  ["retentionSeconds", 300_000, 60_000, 86_400, "days"],
  ["leaseSeconds", 5000, 1000, 3600, "hours"],
  ["waitSeconds", 100, 100, 60, "minutes"],
] as const;

const reported = new Set<string>();

/** Once per operation and value: each call of `runOnce` may pass new options. */
function warnOfMilliseconds({
  operation,
  retentionSeconds,
  leaseSeconds,
  whenInProgress,
}: EngineOptions): void {
  const given = { retentionSeconds, leaseSeconds, waitSeconds: Object(whenInProgress).waitSeconds };
  for (const [option, from, roundMs, unit, name] of MILLISECONDS) {
    const seconds = given[option] ?? 0;
    if (seconds < from || seconds % roundMs || !(seconds % unit)) continue;
    const text = `onceonly: \`${option}: ${seconds}\` of "${operation}" is ${(seconds / unit).toFixed(1)} ${name}; did you mean ${seconds / 1000} seconds?`;
    if (reported.has(text)) continue;
    reported.add(text);
    console.warn(text);
  }
}

/** Checks the options once and fills in the defaults. */
export function resolveOptions<Write>(options: EngineOptions<Write>): ResolvedOptions<Write> {
  checkEngineOptions(options);
  warnOfMilliseconds(options);
  const { fingerprint, keyFormat, ...rest } = withDefaults(options, DEFAULTS);
  return Object.freeze({
    ...rest,
    lookFirst: options.lookFirst ?? rest.mode === "optimistic",
    leaseSeconds: options.leaseSeconds,
    renewal: renewalOf(options),
    keyPattern: keyFormat && keyPatternOf(keyFormat),
    fingerprints: [fingerprint].flat() as ((input: unknown) => unknown)[],
  });
}
