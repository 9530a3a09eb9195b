// The properties of a Reconciler.
import { Duration } from "aws-cdk-lib";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { IIdempotencyTable } from "./idempotency-table-interface.ts";

/** Properties of a {@link Reconciler}. */
export interface ReconcilerProps {
  /** The table of the operations: with `unknownOutcomes: true`. */
  readonly table: IIdempotencyTable;

  /**
   * The function that `reconciler(options)` of `onceonly` made. It holds the `verify` of each operation, so
   * it comes from the app.
   */
  readonly handler: IFunction;

  /**
   * How often the reconciler looks for keys that nobody settles: whole minutes.
   *
   * @default Duration.minutes(1)
   */
  readonly interval?: Duration;
}

export const RECONCILER_DEFAULTS = { interval: Duration.minutes(1) } as const;
