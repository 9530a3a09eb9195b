// What a rule reads: the resources of an app, as their templates say them. A synthesis reads them from the construct tree, and
// `onceonly doctor` from the templates. Imports nothing of the CDK.

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

/** Properties by their names in templates. A value that is known at deployment only is an intrinsic function. */
export type TemplateProperties = Readonly<Record<string, unknown>>;

export interface ResourceDefinition {
  readonly Properties?: TemplateProperties;
  readonly DeletionPolicy?: string;
  readonly Condition?: string;
}

/** Where a resource is deployed; the account and the region are undefined if only the deployment decides. */
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

  /** Stands for the default event bus. */
  rootOf(resource: Resource): object;

  /** The resources that a part of properties refers to. A version or an alias stands for its function. */
  targetsIn(part: unknown): readonly Resource[];

  targetIn(part: unknown, ...types: string[]): Resource | undefined;

  /** What a property refers to that accepts a bare name too, such as `FunctionName`. */
  namedIn(name: unknown, service: string, near: Resource): readonly Resource[];
}

/** A synthesis fails for what is refused, and prints the rest. */
export type Severity = "refused" | "warned" | "noted";

/** Where a rule reports what it finds. A resource may be reported by several rules, and by one rule several times. */
export type Report = (severity: Severity, rule: string, at: Resource, text: string) => void;

export const FUNCTION = "AWS::Lambda::Function";
export const QUEUE = "AWS::SQS::Queue";
export const TABLES = ["AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable"];

/** Empty for anything but an object. */
export function objectIn(value: unknown): TemplateProperties {
  return Object(value);
}

export function valueIn(properties: TemplateProperties, ...path: string[]): unknown {
  return path.reduce<unknown>((part, name) => Object(part)[name], properties);
}

/** The ids that a construct gives what it makes for itself. */
const INNER_IDS = new Set(["Resource", "Default"]);

/** The path that a user knows: the path of the construct around the resource. */
export function ownerPath(resource: { readonly node: ResourceNode }): string {
  const { scope, id, path } = resource.node;
  return scope && INNER_IDS.has(id) ? ownerPath(scope) : path;
}
