// The app that the rules read: the resources of templates. Pure.
import { MarkedApp, type Place, type Resource, type ResourceDefinition } from "onceonly/cdk-rules";
import type { MergedResource, MergedTemplate } from "./merge-templates.ts";

/** A resource of a template, which also knows its id. */
export interface DoctorResource extends Resource {
  readonly id: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export class TemplateApp extends MarkedApp {
  readonly #given: MergedTemplate["Resources"];
  readonly #byId = new Map<string, DoctorResource>();
  readonly #byType = new Map<string, DoctorResource[]>();

  constructor({ Resources }: MergedTemplate) {
    super();
    this.#given = Resources;
    for (const [id, given] of Object.entries(Resources)) {
      const { Type, Metadata: metadata = {} } = given;
      const node = { id, path: pathOf(id, given) };
      const resource = { id, cfnResourceType: Type, node, metadata };
      this.#byId.set(id, resource);
      this.#byType.set(Type, [...(this.#byType.get(Type) ?? []), resource]);
    }
  }

  ofType(type: string): readonly DoctorResource[] {
    return this.#byType.get(type) ?? [];
  }

  withId(id: string): DoctorResource | undefined {
    return this.#byId.get(id);
  }

  placeOf(resource: Resource): Place {
    return this.#givenOf(resource).place;
  }

  /** There is one default event bus, as in a construct tree. */
  rootOf(): object {
    return this;
  }

  protected read(resource: Resource): ResourceDefinition {
    const { Properties, DeletionPolicy, Condition } = this.#givenOf(resource);
    return {
      Properties: (this.#marked(Properties) ?? {}) as Readonly<Record<string, unknown>>,
      ...(DeletionPolicy !== undefined && { DeletionPolicy }),
      ...(Condition !== undefined && { Condition }),
    };
  }

  #givenOf = (resource: Resource) => this.#given[(resource as DoctorResource).id] as MergedResource;

  #marked(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#marked(each));
    if (typeof value !== "object" || value === null) return value;
    const { Ref, "Fn::GetAtt": attribute } = value as Readonly<Record<string, unknown>>;
    const id = Ref ?? [attribute].flat()[0];
    const target = typeof id === "string" ? this.#byId.get(id) : undefined;
    if (target) return this.mark(target);
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.#marked(each)]));
  }
}

/** The construct's path, if the CDK wrote it; what it makes for itself is left out. */
function pathOf(id: string, { Metadata }: MergedResource): string {
  const path = Metadata?.["aws:cdk:path"];
  return typeof path === "string" ? path.replace(/(\/(Resource|Default))+$/, "") : id;
}
