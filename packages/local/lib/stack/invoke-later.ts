// Asynchronous invocations of the functions of a run.
import type { InvokableFunction } from "../lambda/invoke-api.ts";
import { invokeAsynchronously } from "../schedules/invoke-asynchronously.ts";
import { withLocalAddresses } from "./local-addresses.ts";
import { functionNamed, type LocalEnvironment, type LocalFunction, pathOf } from "./local-environment.ts";

/**
 * Resolves after the first attempt, and never rejects: errors are logged, and the invocation is retried.
 * @param from the invoker's name, for log lines
 */
export function invokeLater(
  environment: LocalEnvironment,
  target: LocalFunction,
  payload: string,
  from: string,
  requestId?: string,
): Promise<void> {
  const { clock, log, signal } = environment;
  const label = `${from} → ${pathOf(environment.functions, target)}`;
  const { retries, maxAgeSeconds } = environment.asynchronous.get(target.name) ?? {};
  return invokeAsynchronously({
    ...{ host: target.host, payload, label, clock, log, signal, requestId, retries, maxAgeSeconds },
    onEnd: (ended) => environment.tellEnd(target, ended),
  });
}

/** @param name of a function: its name, its ARN, a part of that, or its construct path */
export function invokableFunction(
  environment: LocalEnvironment,
  name: string,
): InvokableFunction | undefined {
  const local = String(withLocalAddresses(name, environment));
  const fn = functionNamed(environment, local) ?? environment.functions.get(name);
  return (
    fn && {
      invoke: (payload, requestId) => fn.host.invoke(payload, { requestId }),
      invokeLater: (payload, requestId) => void invokeLater(environment, fn, payload, "Invoke", requestId),
    }
  );
}
