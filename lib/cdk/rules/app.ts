// The input of a rule: the resources of an app, as in its templates. Synthesis reads them from the construct tree, and
// `onceonly doctor` from the templates. Imports nothing from the CDK.

/** A resource of a template. A `CfnResource` is one. */
export interface Resource {
  readonly cfnResourceType: string;
  readonly node: ResourceNode;
}

interface ResourceNode {
  readonly id: string;
  readonly path: string;
  readonly scope?: { readonly node: ResourceNode } | undefined;
}

/** Properties by their template names. A value that is only known at deployment is an intrinsic function. */
export type TemplateProperties = Readonly<Record<string, unknown>>;

export interface ResourceDefinition {
  readonly Properties?: TemplateProperties;
  readonly DeletionPolicy?: string;
  readonly Condition?: string;
}

/** Where a resource is deployed. Account and region are undefined if they're only known at deployment. */
export interface Place {
  readonly account: string | undefined;
  readonly region: string | undefined;
  readonly stage: unknown;
}

export interface App {
  ofType(type: string): readonly Resource[];

  propertiesOf(resource: Resource): TemplateProperties;

  definitionOf(resource: Resource): ResourceDefinition;

  placeOf(resource: Resource): Place;

  /** The root of the app, which represents the default event bus. */
  rootOf(resource: Resource): object;

  /** The resources that a part of properties refers to. For a version or an alias, that's its function. */
  targetsIn(part: unknown): readonly Resource[];

  targetIn(part: unknown, ...types: string[]): Resource | undefined;

  /** Whether the name or ARN of a function has a version or an alias. */
  isQualified(name: unknown): boolean;

  /** The resources that a property refers to, if it also accepts a bare name, such as `FunctionName`. */
  namedIn(name: unknown, service: string, near: Resource): readonly Resource[];
}

/** Synthesis fails for `refused`, and prints the rest. */
export type Severity = "refused" | "warned" | "noted";

/** Receives the findings of a rule. Several rules may report a resource, and one rule may report it several times. */
export type Report = (severity: Severity, rule: string, at: Resource, text: string) => void;

export const FUNCTION = "AWS::Lambda::Function";
export const QUEUE = "AWS::SQS::Queue";
export const TABLES = ["AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable"];

/** An empty object for anything but an object. */
export function objectIn(value: unknown): TemplateProperties {
  return Object(value);
}

export function valueIn(properties: TemplateProperties, ...path: string[]): unknown {
  return path.reduce<unknown>((part, name) => Object(part)[name], properties);
}

/** The ids that a construct uses for its main resource. */
const INNER_IDS = new Set(["Resource", "Default"]);

/** The path that users know: that of the construct that contains the resource. */
export function ownerPath(resource: { readonly node: ResourceNode }): string {
  const { scope, id, path } = resource.node;
  return scope && INNER_IDS.has(id) ? ownerPath(scope) : path;
}
