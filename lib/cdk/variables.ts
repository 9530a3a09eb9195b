// Sets the environment variables that handlers read, but never overwrites a value that the app set. No I/O.
import { Stack } from "aws-cdk-lib";
import type { CfnFunction, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { ResolvedApp } from "./checks/resolved-app.ts";
import { objectIn, valueIn } from "./rules/app.ts";

/**
 * If the app set another value, it would contradict the permissions and the checks.
 * @throws Error if the function has the variable with another value. Synthesis fails if it's set later.
 */
export function setVariable(fn: LambdaFunction, name: string, value: string): void {
  const fault = () => {
    const own = variablesOf(fn)[name];
    if (own === undefined) return [];
    const isSame = JSON.stringify(own) === JSON.stringify(Stack.of(fn).resolve(value));
    return isSame ? [] : [faultOf(fn, name)];
  };
  const [before] = fault();
  if (before !== undefined) throw new Error(before);
  fn.addEnvironment(name, value);
  fn.node.addValidation({ validate: () => [...new Set([...fault(), ...overrideFault(fn, name, value)])] });
}

/** An override is only in the template. */
export function overrideFault(fn: LambdaFunction, name: string, value: string): string[] {
  const app = ResolvedApp.of(fn);
  const said = valueIn(objectIn(app.propertiesAt(fn).Environment), "Variables", name);
  const isSame = app.textOf(said) === app.textOf(app.resolve(value, fn));
  return isSame ? [] : [faultOf(fn, name)];
}

const faultOf = ({ node }: LambdaFunction, name: string) =>
  `${node.path} sets the variable ${name} to a different value than UseIdempotency, Reconciler or OutboxRelay does: leave it to them, or use a variable with another name`;

function variablesOf(fn: LambdaFunction): Readonly<Record<string, unknown>> {
  const { environment } = fn.node.defaultChild as CfnFunction;
  return Stack.of(fn).resolve(environment)?.variables ?? {};
}
