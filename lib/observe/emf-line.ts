/**
 * A line in CloudWatch's embedded metric format.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
import { METRICS } from "../contract.ts";

export interface Measured {
  /** As written into the dimension; absent for all operations together. */
  readonly operation?: string;
  readonly metrics: readonly {
    readonly name: string;
    readonly unit: "Count" | "Milliseconds";
    readonly value: number;
  }[];
  /** The line's fields other than its metrics; `undefined` is left out. */
  readonly properties: Readonly<Record<string, string | number | undefined>>;
}

interface Document extends Measured {
  readonly namespace: string;
  readonly service: string;
  /** Epoch ms. */
  readonly timestampMs: number;
}

/** By service for alarms, which then also cover operations they don't list; by operation for graphs. */
const { service: SERVICE, operation: OPERATION } = METRICS.dimensions;
const DIMENSION_SETS = [[SERVICE], [SERVICE, OPERATION]];

export function emfLine({
  namespace,
  service,
  timestampMs,
  operation,
  metrics,
  properties,
}: Document): string {
  return JSON.stringify({
    _aws: {
      Timestamp: Math.floor(timestampMs),
      CloudWatchMetrics: [
        {
          Namespace: namespace,
          Dimensions: operation === undefined ? [[SERVICE]] : DIMENSION_SETS,
          Metrics: metrics.map(({ name, unit }) => ({ Name: name, Unit: unit })),
        },
      ],
    },
    [SERVICE]: service,
    ...(operation !== undefined && { [OPERATION]: operation }),
    ...properties,
    ...Object.fromEntries(metrics.map(({ name, value }) => [name, value])),
  });
}
