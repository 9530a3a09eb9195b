// Shared by both kinds of apps: how properties refer to resources. Reading a definition replaces references with marks. Literal
// names and ARNs, as in imports, are looked up.
import {
  type App,
  type Place,
  type Resource,
  type ResourceDefinition,
  type TemplateProperties,
  valueIn,
} from "./app.ts";
import { flatText, NAMED_TYPES, NamedResources, nameIn } from "./named.ts";

const MARK = /onceonly:resource:(\d+);/g;

const FUNCTION_NAMES = new Set(["AWS::Lambda::Version", "AWS::Lambda::Alias"]);

export abstract class MarkedApp implements App {
  readonly #targets: object[] = [];
  readonly #definitions = new Map<Resource, ResourceDefinition>();
  readonly #found = new WeakMap<object, readonly Resource[]>();
  #named: NamedResources | undefined;

  abstract ofType(type: string): readonly Resource[];
  abstract placeOf(resource: Resource): Place;
  abstract rootOf(resource: Resource): object;

  /** The definition, with each reference replaced by a mark. Each resource is read once. */
  protected abstract read(resource: Resource): ResourceDefinition;

  definitionOf(resource: Resource): ResourceDefinition {
    const definition = this.#definitions.get(resource) ?? this.read(resource);
    this.#definitions.set(resource, definition);
    return definition;
  }

  propertiesOf(resource: Resource): TemplateProperties {
    return this.definitionOf(resource).Properties ?? {};
  }

  /** Shaped like an intrinsic function, because a property that expects a number accepts that. */
  protected mark(target: object): { readonly Ref: string } {
    return { Ref: `onceonly:resource:${this.#targets.push(target) - 1};` };
  }

  /** A part as text, so that equal parts have equal text. */
  textOf(part: unknown): string | undefined {
    const path = (_: string, index: string) => (this.#targets[Number(index)] as Resource)?.node.path ?? "";
    return JSON.stringify(part)?.replace(MARK, path);
  }

  namedIn(name: unknown, service: string, near: Resource): readonly Resource[] {
    const isBare = typeof name === "string" && !name.includes(":");
    return isBare ? this.#names().byName(service, name, near) : this.targetsIn(name);
  }

  #names(): NamedResources {
    if (this.#named) return this.#named;
    this.#named = new NamedResources(this);
    for (const resource of NAMED_TYPES.flatMap((type) => this.ofType(type))) {
      const name = nameIn(resource, this.propertiesOf(resource));
      if (name !== undefined) this.#named.add(resource, name);
    }
    return this.#named;
  }

  targetsIn(part: unknown): readonly Resource[] {
    // Cached, because each function asks for the targets of all sources.
    const found = this.#found.get(Object(part)) ?? this.#find(part);
    if (typeof part === "object" && part !== null) this.#found.set(part, found);
    return found;
  }

  #find(part: unknown): readonly Resource[] {
    const text = JSON.stringify(part) ?? "";
    const found = [...text.matchAll(MARK)].map(([, index]) => {
      const target = this.#targets[Number(index)];
      if (!isResource(target)) return [];
      return FUNCTION_NAMES.has(target.cfnResourceType)
        ? this.namedIn(valueIn(this.propertiesOf(target), "FunctionName"), "lambda", target)
        : target;
    });
    // Imports name resources of another stack by a literal ARN.
    const named = /\barn:/.test(text) ? this.#names().byArn(flatText(part)) : [];
    return [...new Set([...found.flat(), ...named])];
  }

  isQualified(name: unknown): boolean {
    const marked = [...(JSON.stringify(name) ?? "").matchAll(MARK)].map(
      ([, index]) => this.#targets[Number(index)],
    );
    if (marked.some((each) => isResource(each) && FUNCTION_NAMES.has(each.cfnResourceType))) return true;
    // "pay", "pay:live", "111111111111:function:pay:live" and "arn:aws:lambda:eu-west-1:111111111111:function:pay:live"
    const parts = flatText(name).split(":");
    return parts.length - (parts.lastIndexOf("function") + 1) > 1;
  }

  targetIn(part: unknown, ...types: string[]): Resource | undefined {
    return this.targetsIn(part).find(({ cfnResourceType }) => types.includes(cfnResourceType));
  }
}

const isResource = (target: object | undefined): target is Resource =>
  (target as Partial<Resource> | undefined)?.cfnResourceType !== undefined;
