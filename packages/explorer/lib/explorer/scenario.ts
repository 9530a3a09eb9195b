/** The scenario of an exploration: the handler, its event, and the world around it, with all defaults. */
import { ATTRIBUTES, InvalidOptionError, OUTBOX_INDEX, withDefaults } from "onceonly/kit";
import type { Io } from "../simulator/io.ts";
import type { LambdaHandler } from "../simulator/simulated-function.ts";
import type { Simulator } from "../simulator/simulator.ts";
import type { SimulatedTable } from "../simulator/simulator-options.ts";
import type { Durations } from "./disturbance-kinds.ts";
import { checkExploreOptions, DEFAULTS, type ExploreOptions } from "./options.ts";
import { operationIn } from "./usage.ts";

/** An event, or a function that makes the event from the world after `setUp`. */
export type ExploredEvent = unknown | ((aws: Simulator) => unknown);

export interface Scenario {
  /** The explored function. */
  readonly name: string;
  readonly handler: LambdaHandler;
  readonly event: ExploredEvent;
  readonly options: ExploreOptions & {
    readonly timeoutSeconds: number;
    readonly visibilitySeconds: number;
    readonly reportsItemFailures: boolean;
    readonly seed: number;
    readonly maxRuns: number;
  };
  readonly tables: Readonly<Record<string, SimulatedTable>>;
  readonly idempotencyTables: readonly string[];
  readonly durations: Durations;
  readonly patienceMs: number;
}

/** The key and indexes of `IdempotencyTable`. */
const IDEMPOTENCY_TABLE: SimulatedTable = {
  partitionKey: ATTRIBUTES.partitionKey,
  ttl: ATTRIBUTES.expiresAt,
  stream: true,
  indexes: {
    [OUTBOX_INDEX]: {
      partitionKey: { name: ATTRIBUTES.unsentShard, type: "N" },
      sortKey: { name: ATTRIBUTES.unsentSince, type: "N" },
      projection: "KEYS_ONLY",
    },
  },
};

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function scenarioOf(handler: LambdaHandler, event: ExploredEvent, given: ExploreOptions): Scenario {
  if (typeof handler !== "function") throw new InvalidOptionError("handler", "must be a function", handler);
  checkExploreOptions(given);
  const { timeoutSeconds, leaseSeconds, visibilitySeconds, ...rest } = withDefaults(given, DEFAULTS);
  const lease = leaseSeconds ?? timeoutSeconds + DEFAULTS.leaseGraceSeconds;
  const visibility = visibilitySeconds ?? timeoutSeconds * DEFAULTS.visibilityTimeouts;
  if (visibility < timeoutSeconds) {
    throw new InvalidOptionError("visibilitySeconds", "must be at least timeoutSeconds", visibility);
  }
  const idempotencyTables = [given.idempotencyTable ?? []].flat();
  const missing = idempotencyTables.filter((name) => !Object.hasOwn(given.tables ?? {}, name));
  return {
    name: given.name ?? (handler.name || "handler"),
    handler,
    event,
    options: { reportsItemFailures: true, ...rest, timeoutSeconds, visibilitySeconds: visibility },
    tables: { ...given.tables, ...Object.fromEntries(missing.map((name) => [name, IDEMPOTENCY_TABLE])) },
    idempotencyTables,
    durations: {
      pauseMs: (timeoutSeconds * 1000) / 3,
      overdueMs: timeoutSeconds * 1000 + 1000,
      absenceMs: (lease + timeoutSeconds) * 1000,
    },
    patienceMs: (lease + timeoutSeconds + lease) * 1000,
  };
}

/** The explored function's name in reports, given the requests of one of its runs. */
export function reportName({ name, options }: Scenario, ios: readonly Io[]): string {
  return options.name ?? operationIn(ios) ?? name;
}
