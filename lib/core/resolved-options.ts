/** The engine's options once they are checked: with all defaults, and in the form that the engine works with. */
import {
  checkEngineOptions,
  DEFAULTS,
  type EngineOptions,
  MIN_RENEWED_SECONDS,
  withDefaults,
} from "./options.ts";
import { isLambda, isManagedInstance } from "./platform.ts";

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

/** A copy that matches the whole key, each time alike. The flags g and y would keep a state, and m would end at a line. */
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

/** A long retention is a number of days. One that isn't, but is whole minutes when read as milliseconds, was most likely meant so. */
function warnOfMilliseconds({ operation, retentionSeconds: seconds = 0 }: EngineOptions): void {
  if (seconds < 300_000 || seconds % 60_000 !== 0 || seconds % 86_400 === 0) return;
  console.warn(
    `onceonly: \`retentionSeconds: ${seconds}\` of "${operation}" is ${(seconds / 86_400).toFixed(1)} days; did you mean ${seconds / 1000} seconds?`,
  );
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
