// The properties of a Reconciler.
import { Duration } from "aws-cdk-lib";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { IIdempotencyTable } from "./idempotency-table-interface.ts";

/** Properties of a {@link Reconciler}. */
export interface ReconcilerProps {
  /** The table of the operations. It needs `unknownOutcomes: true`. */
  readonly table: IIdempotencyTable;

  /**
   * The function whose handler is `reconciler(options)` from `onceonly`. You write it, because it contains the `verify` of
   * each operation.
   */
  readonly handler: IFunction;

  /**
   * How often the reconciler looks for keys that no call has settled, in whole minutes.
   *
   * @default Duration.minutes(1)
   */
  readonly interval?: Duration;
}

export const RECONCILER_DEFAULTS = { interval: Duration.minutes(1) } as const;
