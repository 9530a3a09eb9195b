/**
 * An I/O of a simulated host: one request to an AWS service or over HTTP, in the form for faults and traces.
 */

export const IO_SERVICES = [
  "dynamodb",
  "sqs",
  "sns",
  "eventbridge",
  "ssm",
  "secretsmanager",
  "s3",
  "ses",
  "lambda",
  "http",
  "foreign",
] as const;
export type IoService = (typeof IO_SERVICES)[number];

export interface Io {
  /** Counts from 1, in the order in which a simulator's hosts make requests. */
  readonly number: number;
  /** Milliseconds since the simulation started. */
  readonly at: number;
  /** The execution environment that makes the request. */
  readonly hostId: string;
  /**
   * The number of the invocation that makes the request; work that outlives its invocation keeps its number.
   */
  readonly invocation: number;
  /** The AWS SDK's attempt, from 1; `undefined` for requests without the SDK. */
  readonly attempt: number | undefined;
  readonly service: IoService;
  /** The operation's name, such as `UpdateItem`; the method of an HTTP request that names no operation of AWS. */
  readonly operation: string;
  /** Tables or buses joined by `+`, the name of a queue, topic, bucket, parameter or secret, or origin and path of a URL. A foreign request names it itself. */
  readonly target: string;
  /** The input of the AWS SDK's command, or `{ headers, body }` of an HTTP request. Do not change it. */
  readonly input: Readonly<Record<string, unknown>>;
}
