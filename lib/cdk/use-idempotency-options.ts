// The options of UseIdempotency about a handler.
import { Duration } from "aws-cdk-lib";
import type { RecordAccessOptions } from "./record-access.ts";

/** Options of {@link UseIdempotency}: what the handler does, and how long its callers repeat. */
export interface UseIdempotencyOptions extends RecordAccessOptions {
  /**
   * How long a finished record is honoured: the handler's `retentionSeconds`. The handler reads it from
   * `IDEMPOTENCY_RETENTION_SECONDS`: `retentionSeconds: Number(process.env.…)`. Two to three times the
   * longest redelivery is good; a retention below the longest redelivery is refused at synthesis. So is one above 366
   * days without `longRetention`.
   * @default Duration.days(1)
   */
  readonly retention?: Duration;

  /**
   * Says that a retention of more than 366 days is meant, up to ten years: the handler's `longRetention`, which it needs too.
   * @default false
   */
  readonly longRetention?: boolean;

  /**
   * How long after its first try a caller, or a sender of messages, may repeat with the same key.
   *
   * @default Duration.minutes(2)
   */
  readonly clientWindow?: Duration;

  /**
   * Whether the function may go on after the API in front of it has given up. The result is kept, and the
   * caller's retry gets it.
   * @default false
   */
  readonly outlivesGateway?: boolean;
}

/**
 * The defaults of the runtime: `retentionSeconds` of handlers, and `deadlineSeconds` of `idempotentFetch`.
 */
export const USE_DEFAULTS = {
  retention: Duration.days(1),
  longRetention: false,
  clientWindow: Duration.minutes(2),
  outlivesGateway: false,
} as const;
