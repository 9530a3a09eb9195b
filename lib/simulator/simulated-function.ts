/** A Lambda function of a simulation. */
import type { Invocation } from "./invocation.ts";

/**
 * As `Handler` in the types of aws-lambda, whose callback is not called: handlers return promises. Called, it throws.
 */
// biome-ignore lint/suspicious/noExplicitAny: handlers have narrower types for their event and context.
export type LambdaHandler = (event: any, context: any, callback?: any) => unknown;

export interface InvokeOptions {
  /** @default - a new one */
  readonly requestId?: string | undefined;
}

export interface SimulatedFunction {
  readonly name: string;
  /** Invokes once and tells how it ended; never rejects. Only within `run`. */
  invoke(event: unknown, options?: InvokeOptions): Promise<Invocation>;
  /**
   * As Lambda does for those that do not wait: a failure is tried again after 1 and after 2 minutes, under the same
   * request id. Resolves with the last outcome.
   */
  invokeAsync(event: unknown, options?: InvokeOptions): Promise<Invocation>;
}
