// Checks that Lambda remembers the executions that a function with `startOnce` starts.
import type { Duration } from "aws-cdk-lib";
import type { IFunction, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import type { IConstruct } from "constructs";
import { FUNCTION } from "../rules/app.ts";
import { findInDispatcher } from "../rules/dispatchers.ts";
import { sharedRegistry } from "../shared-registry.ts";
import { knownSeconds } from "./consumers.ts";
import { reported } from "./report.ts";
import { ResolvedApp, resourceOf } from "./resolved-app.ts";
import { walkOnce } from "./resources.ts";

const dispatchers = sharedRegistry<true>("dispatchers");

export const isDispatcher = (fn: IConstruct): boolean => dispatchers.has(fn);

/** @param durable a version or an alias of the durable function */
export function checkDispatcher(fn: LambdaFunction, durable: IFunction, clientWindow: Duration): void {
  dispatchers.set(fn, true);
  walkOnce(fn);
  fn.node.addValidation({
    validate: () => {
      const app = ResolvedApp.of(fn);
      const target = app.targetIn(app.resolve(durable.functionArn, fn), FUNCTION);
      const dispatcher = { fn: resourceOf(fn), target, clientWindow: knownSeconds(clientWindow) };
      return reported(fn, (report) => findInDispatcher(app, dispatcher, report));
    },
  });
}
