/** A Lambda function of a simulation. */
import type { FakeLambdaContext } from "onceonly/testing";
import type { Invocation } from "./invocation.ts";

/** Like `Handler` in the types of aws-lambda. */
export type LambdaHandler = Handling["handle"];

/** A method, because handlers have narrower types for their event and context, which only parameters of methods may have. */
interface Handling {
  handle(
    event: unknown,
    context: FakeLambdaContext,
    callback?: (error: unknown, answer?: unknown) => void,
  ): unknown;
}

export interface InvokeOptions {
  /** @default - a new id */
  readonly requestId?: string | undefined;
}

export interface SimulatedFunction {
  readonly name: string;
  /** Invokes once and resolves to the outcome; never rejects. Only within `run`. */
  invoke(event: unknown, options?: InvokeOptions): Promise<Invocation>;
  /**
   * Lambda's asynchronous invocation: a failure is retried after 1 and after 2 minutes, with the same request
   * id. Resolves to the last outcome.
   */
  invokeAsync(event: unknown, options?: InvokeOptions): Promise<Invocation>;
}
