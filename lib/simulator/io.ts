/** An I/O of a simulated host: one request to a service of AWS or over HTTP, as faults and traces know it. */

export const IO_SERVICES = ["dynamodb", "sqs", "sns", "eventbridge", "http"] as const;
export type IoService = (typeof IO_SERVICES)[number];

export interface Io {
  /** From 1, in the order in which a simulator's hosts ask. */
  readonly number: number;
  /** Milliseconds since the simulation started. */
  readonly at: number;
  /** The execution environment that asks. */
  readonly hostId: string;
  /** The number of the invocation that asks; work that outlives its invocation keeps its number. */
  readonly invocation: number;
  /** Which try of the AWS SDK it is, from 1; `undefined` for what the SDK does not send itself. */
  readonly attempt: number | undefined;
  readonly service: IoService;
  /** The operation's name, such as `UpdateItem`; the method of an HTTP request. */
  readonly operation: string;
  /** Tables or buses joined by `+`, the name of a queue or topic, or origin and path of a URL. */
  readonly target: string;
  /** As the AWS SDK's command has it; `{ headers, body }` of an HTTP request. Not to be changed. */
  readonly input: Readonly<Record<string, unknown>>;
}
