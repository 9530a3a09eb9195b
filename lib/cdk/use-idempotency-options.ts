// The options of UseIdempotency that describe a handler.
import { Duration } from "aws-cdk-lib";
import type { RecordAccessOptions } from "./record-access.ts";
import type { ResultBucket } from "./result-bucket.ts";

/** Options of {@link UseIdempotency}: what the handler does, and how long its callers retry. */
export interface UseIdempotencyOptions extends RecordAccessOptions {
  /**
   * How long a finished record is honoured: the handler's `retentionSeconds`. The function gets it as
   * `IDEMPOTENCY_RETENTION_SECONDS`: `retentionSeconds: Number(process.env.IDEMPOTENCY_RETENTION_SECONDS)`. Two to three
   * times the longest redelivery is a good value. Synthesis fails if it's below the longest redelivery, or above 366 days
   * without `allowLongRetention`.
   * @default - the handler's own default: 35 days if an event source mapping or a pipe feeds the function, otherwise one day.
   * This
   * assumes that such a function uses `idempotentBatch`. Synthesis can't see a handler with `runOnce` or `idempotent`, which
   * keeps records for one day unless its `retentionSeconds` reads the variable
   */
  readonly retention?: Duration;

  /**
   * Allows a retention of more than 366 days, up to ten years. The handler needs its own `allowLongRetention` as well.
   * @default false
   */
  readonly allowLongRetention?: boolean;

  /**
   * How long after its first try a caller, or a sender of messages, may retry with the same key.
   *
   * @default Duration.minutes(2)
   */
  readonly clientWindow?: Duration;

  /**
   * Whether the function may keep running after the API in front of it has timed out. The result is stored, and the
   * caller's retry gets it.
   * @default false
   */
  readonly outlivesGateway?: boolean;

  /**
   * The bucket of the handler's `offloaded` store. The function may write and read results there, and gets the bucket's name
   * as `IDEMPOTENCY_RESULT_BUCKET`. Synthesis fails if its objects don't live as long as `retention`.
   * @default - results too large for a record aren't kept
   */
  readonly resultBucket?: ResultBucket;
}

/** The same as at run time: `deadlineSeconds` of `idempotentFetch`. */
export const USE_DEFAULTS = {
  allowLongRetention: false,
  clientWindow: Duration.minutes(2),
  outlivesGateway: false,
} as const;
