// The comparison's contestants, and how one of their functions is deployed. The packages themselves come in through adapters.
import middy, { type MiddlewareObj } from "@middy/core";
import type { Context } from "aws-lambda";
import type { Invoke, LambdaHandler } from "../../measure/contestants/lambda-call.ts";
import type { AdapterName, Deployment } from "./lab.ts";

export interface Adapters {
  wrap(handler: LambdaHandler): Invoke;
  middleware(): MiddlewareObj;
}

export function assemble(
  adapter: AdapterName,
  { wrap, middleware }: Adapters,
  deployment: Deployment,
): Invoke {
  const { handler, after = [], inMiddy = false } = deployment;
  if (adapter === "middleware") return stack(handler, [middleware(), ...after]);
  const wrapped = wrap(after.length > 0 ? stack(handler, after) : handler);
  return inMiddy ? stack(wrapped as LambdaHandler, []) : wrapped;
}

function stack(handler: LambdaHandler, middlewares: readonly MiddlewareObj[]): Invoke {
  const base = middy(handler as (event: unknown, context: Context) => Promise<unknown>);
  return base.use([...middlewares]) as unknown as Invoke;
}
