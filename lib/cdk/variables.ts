// Sets the environment variables that handlers read, but never overwrites a value that the app set. No I/O.
import { type CfnResource, Stack } from "aws-cdk-lib";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import type { CfnFunction, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import type { IConstruct } from "constructs";
import { ResolvedApp } from "./checks/resolved-app.ts";
import { objectIn, valueIn } from "./rules/app.ts";

/** A `WebFunction`, for which aws-cdk-lib has a type since 2.276 only. Its variables belong to its revision. */
export interface WebFunctionLike extends IConstruct, IGrantable {
  readonly resourceRevision: CfnResource & {
    serviceConfig: { readonly environmentVariables?: Readonly<Record<string, string>> };
  };
}

export type AnyFunction = LambdaFunction | WebFunctionLike;

export const isWebFunction = (construct: IConstruct): construct is WebFunctionLike =>
  "resourceRevision" in construct && "grantPrincipal" in construct;

/**
 * If the app set another value, it would contradict the permissions and the checks.
 * @throws Error if the function has the variable with another value. Synthesis fails if it's set later.
 */
export function setVariable(fn: AnyFunction, name: string, value: string): void {
  const fault = () => {
    const own = variablesOf(fn)[name];
    if (own === undefined) return [];
    const isSame = JSON.stringify(own) === JSON.stringify(Stack.of(fn).resolve(value));
    return isSame ? [] : [faultOf(fn, name)];
  };
  const [before] = fault();
  if (before !== undefined) throw new Error(before);
  addVariable(fn, name, value);
  fn.node.addValidation({ validate: () => [...new Set([...fault(), ...overrideFault(fn, name, value)])] });
}

/** An override is only in the template. */
export function overrideFault(fn: AnyFunction, name: string, value: string): string[] {
  const app = ResolvedApp.of(fn);
  const said = isWebFunction(fn)
    ? valueIn(objectIn(app.propertiesOf(fn.resourceRevision).ServiceConfig), "EnvironmentVariables", name)
    : valueIn(objectIn(app.propertiesAt(fn).Environment), "Variables", name);
  const isSame = app.textOf(said) === app.textOf(app.resolve(value, fn));
  return isSame ? [] : [faultOf(fn, name)];
}

const faultOf = ({ node }: IConstruct, name: string) =>
  `${node.path} sets the variable ${name} to a different value than UseIdempotency, Reconciler or OutboxRelay does: leave it to them, or use a variable with another name`;

function addVariable(fn: AnyFunction, name: string, value: string): void {
  if (!isWebFunction(fn)) return void fn.addEnvironment(name, value);
  const { serviceConfig } = fn.resourceRevision;
  const environmentVariables = { ...serviceConfig.environmentVariables, [name]: value };
  fn.resourceRevision.serviceConfig = { ...serviceConfig, environmentVariables };
}

function variablesOf(fn: AnyFunction): Readonly<Record<string, unknown>> {
  if (isWebFunction(fn)) {
    return Stack.of(fn).resolve(fn.resourceRevision.serviceConfig.environmentVariables) ?? {};
  }
  const { environment } = fn.node.defaultChild as CfnFunction;
  return Stack.of(fn).resolve(environment)?.variables ?? {};
}
