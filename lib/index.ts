/** What a handler imports. */
export type { ChildKeyLimits } from "./core/child-key.ts";
export type { Clock, Random } from "./core/clock.ts";
export { DECISIONS, type Decision, type DecisionEvent, type Observe } from "./core/decisions.ts";
export * from "./core/errors.ts";
export type { Execution } from "./core/execution.ts";
export type { EngineOptions, Fingerprinter } from "./core/options.ts";
export type { IdempotencyRecord, State, StoredResult } from "./core/record.ts";
export { type RunOnceOptions, runOnce } from "./core/run-once.ts";
export type { Claim, ClaimAnswer, Insertion, SettleAnswer, Settlement, Store } from "./core/store.ts";
