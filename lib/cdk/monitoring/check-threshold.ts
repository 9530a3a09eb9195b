// Rejects thresholds that a metric can never exceed, or always exceeds. No I/O.
import { Token } from "aws-cdk-lib";
import { type AlarmKind, SPIKES } from "./alarms.ts";

const PERCENTAGES: ReadonlySet<AlarmKind> = new Set(["replay-rate", "work-near-lease"] as const);

/** The maximum of a metric, and why. */
const MOST: { readonly [Kind in AlarmKind]?: readonly [most: number, why: string] } = {
  "replay-rate": [100, "it's a percentage"],
  "work-near-lease": [100, "it's a percentage of the timeout"],
  // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
  "relay-iterator-age": [86_400_000, "it's in milliseconds, and a table's stream keeps 24 hours"],
  // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
  "dead-letter-age": [1_209_600, "it's in seconds, and queues keep messages for at most 14 days"],
};

/**
 * @param what names the threshold: "threshold of Warning in addHeldAlarm of Shop/Monitoring"
 * @throws Error for a number that can't be intended
 */
export function checkThreshold(kind: AlarmKind, threshold: number, what: string): void {
  if (Token.isUnresolved(threshold)) return;
  const fault = faultOf(kind, threshold);
  if (fault !== undefined) throw new Error(`${what} is ${threshold}: ${fault}`);
}

function faultOf(kind: AlarmKind, threshold: number): string | undefined {
  if (!Number.isFinite(threshold)) return "use a finite number";
  if (threshold < 0) return "the metric is never negative, so the alarm would always fire: use 0 or more";
  if (SPIKES.has(kind) && threshold === 0)
    return "the band would have no width: use 3, or another number above 0";
  if (PERCENTAGES.has(kind) && threshold > 0 && threshold < 1) {
    return `it's a percentage, not a fraction: did you mean ${Number((threshold * 100).toPrecision(12))}?`;
  }
  const [most, why] = MOST[kind] ?? [Number.POSITIVE_INFINITY, ""];
  return threshold < most ? undefined : `${why}, so the alarm would never fire: use less than ${most}`;
}
