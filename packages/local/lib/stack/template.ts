// The parts of a CloudFormation template that running it locally needs. Shapes only; touches nothing.

export interface Template {
  readonly Transform?: unknown;
  /** SAM's global settings for all resources of a kind, by kind. */
  readonly Globals?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly Parameters?: Readonly<Record<string, TemplateParameter>>;
  readonly Mappings?: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;
  readonly Conditions?: Readonly<Record<string, unknown>>;
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Outputs?: Readonly<Record<string, TemplateOutput>>;
}

export interface TemplateParameter {
  readonly Type: string;
  readonly Default?: unknown;
}

export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly DependsOn?: string | readonly string[];
  readonly Condition?: string;
  readonly Metadata?: Readonly<Record<string, unknown>>;
}

export interface TemplateOutput {
  readonly Value: unknown;
  readonly Condition?: string;
  readonly Export?: { readonly Name: unknown };
}

/**
 * The resource's place in the construct tree of its stack, for people: `Orders` rather than `OrdersA9B65338`.
 * @param stackPlace the stack's place in its app, if known
 */
export function constructPathOf(logicalId: string, resource: TemplateResource, stackPlace = ""): string {
  const path = resource.Metadata?.["aws:cdk:path"];
  if (typeof path !== "string") return logicalId;
  const depth = path.startsWith(`${stackPlace}/`) ? stackPlace.split("/").length : 1;
  const withoutStack = path.split("/").slice(depth);
  while (["Resource", "Default"].includes(withoutStack.at(-1) ?? "")) withoutStack.pop();
  return withoutStack.join("/") || logicalId;
}
