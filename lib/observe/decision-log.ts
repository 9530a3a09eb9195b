/** A subscriber that writes one structured line per decision, to a logger or the console. */
import { createHash } from "node:crypto";
import type { DecisionEvent } from "../core/decisions.ts";
import { aFunction, type Check, checkOptions, methods, oneOf } from "../core/option-checks.ts";
import { isUnawaited } from "../core/unawaited.ts";
import { visible } from "../core/visible.ts";
import { withDefaults } from "../core/with-defaults.ts";
import { nameOf } from "./measurements.ts";

/** How the owner of a key is shown. */
export type ShownScope = "hashed" | "clear" | "left-out";

/** @internal */
export const SCOPE_CHECK: Check = oneOf("hashed", "clear", "left-out");

/** Whether a key is shown in addition to the hash that identifies it. */
export type ShownKeys = "hashed" | "clear";

/** @internal */
export const KEYS_CHECK: Check = oneOf("hashed", "clear");

/** The Powertools `Logger`, pino with an adapter, or any other logger with these methods. */
export interface DecisionLogger {
  info(message: string, fields: Record<string, unknown>): void;
  warn(message: string, fields: Record<string, unknown>): void;
  error(message: string, fields: Record<string, unknown>): void;
}

export interface DecisionLogOptions {
  /**
   * Receives a message and the fields of the line, for example the Powertools `Logger`.
   * @default - the console: one line of JSON
   */
  readonly logger?: DecisionLogger;
  /**
   * How a line shows the owner of a key: the beginning of its SHA-256, the owner itself, or not at all.
   * @default "hashed"
   */
  readonly scope?: ShownScope;
  /**
   * Whether a line contains the key itself in addition to its hash. A key may identify a person, and anyone who can read the log
   * group can then read it.
   * @default "hashed"
   */
  readonly keys?: ShownKeys;
  /**
   * Returns the id of the current trace.
   * @default - from the trace context of the HTTP request or the envelope
   */
  readonly traceId?: () => string | undefined;
}

const CHECKS: Readonly<Record<keyof DecisionLogOptions, Check>> = {
  logger: methods("info", "warn", "error"),
  scope: SCOPE_CHECK,
  keys: KEYS_CHECK,
  traceId: aFunction,
};

const LEVELS: Readonly<Partial<Record<DecisionEvent["decision"], "warn" | "error">>> = {
  "key-missing": "warn",
  "caller-refused": "warn",
  "key-fallback": "warn",
  held: "error",
  mismatch: "warn",
  "taken-over": "warn",
  "claim-lost": "warn",
  "completion-lost": "error",
  "outcome-unknown": "error",
  "store-failed": "error",
  "ran-unprotected": "warn",
  "key-expired": "warn",
  "group-refused": "warn",
  "new-keys": "warn",
  "clock-skewed": "warn",
};

const lineTo = (level: "info" | "warn" | "error") => (message: string, fields: Record<string, unknown>) =>
  console[level](visible(JSON.stringify({ level, message, ...fields })));

const CONSOLE: DecisionLogger = { info: lineTo("info"), warn: lineTo("warn"), error: lineTo("error") };

/** The owner in either form, under these names. @internal */
export function shownScope(shown: ShownScope, clear: string, hashed: string): (scope?: string) => object {
  if (shown === "left-out") return () => ({});
  return (scope) => {
    if (!scope) return {};
    if (shown === "clear") return { [clear]: scope };
    return { [hashed]: createHash("sha256").update(scope).digest("hex").slice(0, 16) };
  };
}

/**
 * Makes the `observe` that logs: for `idempotency`, `httpIdempotency`, `idempotentBatch` and `runOnce`. A line contains the
 * decision, the operation, the hash of the key, the owner according to `scope`, the attempt, duration and trace id, and the
 * error's name. It never contains a payload, a result or an error's message, and a key only with `keys: "clear"`. `onceonly
 * find` finds the line's record by its key, which it hashes.
 *
 * Executions, replays and releases have level `info`; likely mistakes are `warn`, and anything that needs an operator is
 * `error`.
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately.
 */
export function decisionLog(options: DecisionLogOptions = {}): (event: DecisionEvent) => void {
  checkOptions(options, CHECKS, []);
  const { logger, scope, keys, traceId } = withDefaults(options, {
    logger: CONSOLE,
    scope: "hashed" as const,
    keys: "hashed" as const,
  });
  const scopeOf = shownScope(scope, "scope", "scopeHash");
  return function logDecision({ decision, operation, keyHash, key, attempt, durationMs, ageMs, ...event }) {
    const trace: unknown = traceId ? traceId() : event.traceparent?.split("-")[1];
    const fields = {
      decision,
      operation,
      keyHash,
      key: keys === "clear" ? key : undefined,
      ...scopeOf(event.scope),
      attempt,
      durationMs,
      ageMs,
      errorName: nameOf(event.error),
      traceId: isUnawaited(trace) ? undefined : trace,
    };
    const given = Object.entries(fields).filter(([, value]) => value !== undefined);
    logger[LEVELS[decision] ?? "info"](`onceonly: ${decision}`, Object.fromEntries(given));
  };
}
