// CloudFormation's intrinsic functions: turns a template value into the value CloudFormation would have used.
// Pure: the scope resolves references. An unknown function is an error, never a guess.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
import { substitute } from "./substitution.ts";

/** Resolves the names in a template. */
export interface IntrinsicScope {
  /** A parameter, pseudo parameter or resource. */
  ref(name: string): unknown;
  attribute(logicalId: string, attribute: string): unknown;
  condition(name: string): boolean;
  mapping(map: string, first: string, second: string): unknown;
  importValue(name: string): unknown;
  /** How CDK apps refer to other stacks, unless they use exports. */
  stackOutput(stackName: string, region: string, output: string): unknown;
}

/** The value of `AWS::NoValue`: a property or list entry that has it is left out. */
export const NO_VALUE = Symbol("AWS::NoValue");

type Evaluate = (argument: unknown, scope: IntrinsicScope) => unknown;

/** The value with every intrinsic function in it evaluated. */
export function resolveIntrinsics(value: unknown, scope: IntrinsicScope): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => resolveIntrinsics(item, scope)).filter((item) => item !== NO_VALUE);
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const [name, argument] = entries[0] ?? [];
  if (entries.length === 1 && name !== undefined && isIntrinsicName(name)) {
    const evaluate = Object.hasOwn(INTRINSICS, name) ? INTRINSICS[name] : undefined;
    if (!evaluate)
      throw new Error(`the template uses ${name.slice(0, 80)}, which isn't supported locally: remove it`);
    return evaluate(argument, scope);
  }
  return Object.fromEntries(
    entries
      .map(([key, item]) => [key, resolveIntrinsics(item, scope)] as const)
      .filter(([, item]) => item !== NO_VALUE),
  );
}

/** Evaluates the body of a condition. */
export function resolveCondition(value: unknown, scope: IntrinsicScope): boolean {
  const result = resolveIntrinsics(value, scope);
  return result === true || result === "true";
}

function isIntrinsicName(name: string): boolean {
  return name === "Ref" || name === "Condition" || name.startsWith("Fn::");
}

const INTRINSICS: Readonly<Record<string, Evaluate>> = {
  Ref: (name, scope) => scope.ref(text(name, "Ref")),
  Condition: (name, scope) =>
    typeof name === "string" ? scope.condition(name) : { Condition: resolveIntrinsics(name, scope) },
  "Fn::GetAtt": (argument, scope) => {
    const [logicalId, ...attribute] =
      typeof argument === "string" ? argument.split(".") : list(argument, scope, "Fn::GetAtt");
    return scope.attribute(String(logicalId), attribute.join("."));
  },
  "Fn::Join": (argument, scope) => {
    const [separator, items] = list(argument, scope, "Fn::Join");
    return asList(items, "Fn::Join").map(String).join(String(separator));
  },
  "Fn::Sub": (argument, scope) => {
    const [template, own] = typeof argument === "string" ? [argument] : asList(argument, "Fn::Sub");
    const variables = resolveIntrinsics(own ?? {}, scope) as Record<string, unknown>;
    return substitute(text(template, "Fn::Sub"), (name) =>
      Object.hasOwn(variables, name) ? variables[name] : reference(name, scope),
    );
  },
  "Fn::Select": (argument, scope) => {
    const [index, items] = list(argument, scope, "Fn::Select");
    const selected = asList(items, "Fn::Select")[Number(index)];
    if (selected === undefined) throw new Error(`Fn::Select index ${shown(index)} is out of range`);
    return selected;
  },
  "Fn::Split": (argument, scope) => {
    const [separator, source] = list(argument, scope, "Fn::Split");
    return String(source).split(String(separator));
  },
  "Fn::If": (argument, scope) => {
    const [condition, whenTrue, whenFalse] = asList(argument, "Fn::If");
    return resolveIntrinsics(scope.condition(text(condition, "Fn::If")) ? whenTrue : whenFalse, scope);
  },
  "Fn::Equals": (argument, scope) => {
    const [left, right] = list(argument, scope, "Fn::Equals");
    return JSON.stringify(left) === JSON.stringify(right);
  },
  "Fn::And": (argument, scope) => asList(argument, "Fn::And").every((item) => resolveCondition(item, scope)),
  "Fn::Or": (argument, scope) => asList(argument, "Fn::Or").some((item) => resolveCondition(item, scope)),
  "Fn::Not": (argument, scope) => !resolveCondition(asList(argument, "Fn::Not")[0], scope),
  "Fn::FindInMap": (argument, scope) => {
    const [map, first, second] = list(argument, scope, "Fn::FindInMap").map(String) as [
      string,
      string,
      string,
    ];
    return scope.mapping(map, first, second);
  },
  "Fn::Base64": (argument, scope) =>
    Buffer.from(String(resolveIntrinsics(argument, scope))).toString("base64"),
  "Fn::ImportValue": (argument, scope) => scope.importValue(String(resolveIntrinsics(argument, scope))),
  "Fn::GetStackOutput": (argument, scope) => {
    const given = resolveIntrinsics(argument, scope) as Record<string, unknown>;
    const region = String(given.Region ?? scope.ref("AWS::Region"));
    return scope.stackOutput(String(given.StackName), region, String(given.OutputName));
  },
  "Fn::GetAZs": (argument, scope) => {
    const region = String(resolveIntrinsics(argument, scope) || scope.ref("AWS::Region"));
    return ["a", "b", "c"].map((zone) => region + zone);
  },
};

function reference(name: string, scope: IntrinsicScope): unknown {
  const dot = name.indexOf(".");
  return dot < 0 ? scope.ref(name) : scope.attribute(name.slice(0, dot), name.slice(dot + 1));
}

function text(value: unknown, name: string): string {
  if (typeof value !== "string") throw new Error(`${name} requires a name (got ${shown(value)})`);
  return value;
}

function list(argument: unknown, scope: IntrinsicScope, name: string): unknown[] {
  return asList(resolveIntrinsics(argument, scope), name);
}

function asList(value: unknown, name: string): unknown[] {
  if (!Array.isArray(value)) throw new Error(`${name} requires a list (got ${shown(value)})`);
  return value;
}

function shown(value: unknown): string {
  return `${JSON.stringify(value)}`.slice(0, 200);
}
