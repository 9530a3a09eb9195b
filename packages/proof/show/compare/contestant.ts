// Who takes part in the comparison, and how a function of theirs is deployed. The packages themselves come in by faces.
import middy, { type MiddlewareObj } from "@middy/core";
import type { Context } from "aws-lambda";
import type { Invoke, LambdaHandler } from "../../measure/contestants/lambda-call.ts";
import type { Lab } from "./lab.ts";

export type FaceName = "wrapper" | "middleware";

/** The part of an event that says that it is the same operation again. */
export type KeyedBy = "id" | "whole event" | "header" | "caller and header";

export interface Deployment {
  readonly handler: LambdaHandler;
  /** @default "id" */
  readonly keyedBy?: KeyedBy;
  /** @default "create-order" */
  readonly operation?: string;
  /** What an event without a key is, by an option or as the package has it by default. */
  readonly keyMissing?: "refused" | "as by default";
  /** Middlewares that see the event after the package's own face. */
  readonly after?: readonly MiddlewareObj[];
  /** Whether Middy is around a wrapper too. */
  readonly inMiddy?: boolean;
}

export interface Contestant {
  readonly package: "onceonly" | "Powertools";
  readonly face: FaceName;
  /** The partition key of its table. */
  readonly partitionKey: string;
  /** A new execution environment of a function. */
  deploy(lab: Lab, deployment: Deployment): Invoke;
  /** The same for a function inside a handler, which gets no context; its argument is an event with an `id`. */
  deployInner(lab: Lab, work: () => Promise<unknown>): (event: unknown) => Promise<unknown>;
  /** Stores an order, as safely as the package offers it. */
  storeOrder(lab: Lab, context: Context, order: { readonly order: number }): Promise<unknown>;
}

export interface Faces {
  wrap(handler: LambdaHandler): Invoke;
  middleware(): MiddlewareObj;
}

export function assemble(face: FaceName, { wrap, middleware }: Faces, deployment: Deployment): Invoke {
  const { handler, after = [], inMiddy = false } = deployment;
  if (face === "middleware") return stack(handler, [middleware(), ...after]);
  const wrapped = wrap(after.length > 0 ? stack(handler, after) : handler);
  return inMiddy ? stack(wrapped as LambdaHandler, []) : wrapped;
}

function stack(handler: LambdaHandler, middlewares: readonly MiddlewareObj[]): Invoke {
  const base = middy(handler as (event: unknown, context: Context) => Promise<unknown>);
  return base.use([...middlewares]) as unknown as Invoke;
}
