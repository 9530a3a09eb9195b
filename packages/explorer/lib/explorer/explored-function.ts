/** The explored function without an environment: Lambda's state after a long time without events. */
import type { FakeLambdaContext } from "onceonly/testing";
import type { LambdaHandler, SimulatedFunction } from "../simulator/simulated-function.ts";
import type { Simulator } from "../simulator/simulator.ts";
import type { Scenario } from "./scenario.ts";

/**
 * `generation` numbers the environments created after all previous ones are gone: each generation draws
 * different random values.
 */
export function exploredFunction(
  { options, name, handler }: Scenario,
  aws: Simulator,
  { generation, noteStart }: { readonly generation: number; readonly noteStart: () => void },
): SimulatedFunction {
  const { perEnvironment, timeoutSeconds } = options;
  return aws.lambdaPerEnvironment(
    async () => {
      const own = perEnvironment ? ((await (handler as () => unknown)()) as LambdaHandler) : handler;
      return (event, context: FakeLambdaContext, callback) => {
        noteStart();
        return own(event, Object.assign(context, namesOf(name, context)), callback);
      };
    },
    { name: generation === 0 ? name : `${name}#${generation}`, timeoutSeconds },
  );
}

/** The function has the same name in all generations. */
function namesOf(functionName: string, { invokedFunctionArn, functionName: former }: FakeLambdaContext) {
  return {
    functionName,
    invokedFunctionArn: invokedFunctionArn.replace(former, functionName),
    logGroupName: `/aws/lambda/${functionName}`,
  };
}
