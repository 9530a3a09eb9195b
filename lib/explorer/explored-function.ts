/** The function that is explored, with no environment yet: as Lambda has it when nothing came for long. */
import type { FakeLambdaContext } from "../fakes/fake-lambda-context.ts";
import type { LambdaHandler, SimulatedFunction } from "../simulator/simulated-function.ts";
import type { Simulator } from "../simulator/simulator.ts";
import type { Scenario } from "./scenario.ts";

/** `generation` tells environments apart that are made after all former ones are gone: their randomness is another. */
export function exploredFunction(
  { options, name, handler }: Scenario,
  aws: Simulator,
  { generation, noteStart }: { readonly generation: number; readonly noteStart: () => void },
): SimulatedFunction {
  const { perEnvironment, timeoutSeconds } = options;
  return aws.lambdaPerEnvironment(
    async () => {
      const own = perEnvironment ? ((await handler(undefined, undefined)) as LambdaHandler) : handler;
      return (event, context: FakeLambdaContext) => {
        noteStart();
        return own(event, { ...context, ...namesOf(name, context) });
      };
    },
    { name: generation === 0 ? name : `${name}#${generation}`, timeoutSeconds },
  );
}

/** The function's name is the same in all its generations. */
function namesOf(functionName: string, { invokedFunctionArn, functionName: former }: FakeLambdaContext) {
  return {
    functionName,
    invokedFunctionArn: invokedFunctionArn.replace(former, functionName),
    logGroupName: `/aws/lambda/${functionName}`,
  };
}
