// Sets the environment variables that handlers read, and never one that the app has set to something else. No I/O.
import { Stack } from "aws-cdk-lib";
import type { CfnFunction, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { ResolvedApp } from "./checks/resolved-app.ts";
import { objectIn, valueIn } from "./rules/app.ts";

/**
 * A value of the app's own would say something else than the rights and the proofs do.
 * @throws Error where the function has the variable with another value; one that is set later fails the synthesis
 */
export function setVariable(fn: LambdaFunction, name: string, value: string): void {
  const fault = () => {
    const own = variablesOf(fn)[name];
    const isSame = JSON.stringify(own) === JSON.stringify(Stack.of(fn).resolve(value));
    return own === undefined || isSame ? [] : [toldOf(fn, name)];
  };
  const [before] = fault();
  if (before !== undefined) throw new Error(before);
  fn.addEnvironment(name, value);
  fn.node.addValidation({ validate: () => [...new Set([...fault(), ...overrideFault(fn, name, value)])] });
}

/** An override is in the template alone. */
export function overrideFault(fn: LambdaFunction, name: string, value: string): string[] {
  const app = ResolvedApp.of(fn);
  const said = valueIn(objectIn(app.propertiesAt(fn).Environment), "Variables", name);
  const isSame = app.textOf(said) === app.textOf(app.resolve(value, fn));
  return isSame ? [] : [toldOf(fn, name)];
}

const toldOf = ({ node }: LambdaFunction, name: string) =>
  `${node.path} has the variable ${name} with another value than UseIdempotency, Reconciler or OutboxRelay gives it: leave it to them, or read a variable of another name`;

function variablesOf(fn: LambdaFunction): Readonly<Record<string, unknown>> {
  const { environment } = fn.node.defaultChild as CfnFunction;
  return Stack.of(fn).resolve(environment)?.variables ?? {};
}
