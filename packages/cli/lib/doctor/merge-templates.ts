// Merges several templates: each resource gets its own id, and references between stacks stay references. Pure.
import type { Place } from "onceonly/cdk-rules";
import type { Template, TemplateResource } from "onceonly-local";
import type { ReadStack } from "./read-templates.ts";

export interface MergedResource {
  readonly Type: string;
  readonly Properties?: object;
  readonly Metadata?: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
  readonly Condition?: string;
  readonly place: Place;
}

export interface MergedTemplate {
  readonly Resources: Readonly<Record<string, MergedResource>>;
}

/** A stack with what it needs to know for its own references. */
interface Scope {
  readonly stack: ReadStack;
  readonly parent?: Scope;
  /** What the parent gives to a nested stack. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly nested: ReadonlyMap<string, Scope>;
}

export function mergeTemplates(stacks: readonly ReadStack[]): MergedTemplate {
  const scopes = stacks.map((stack) => scopeOf(stack));
  return new Merger(scopes.flatMap(withNested)).merged();
}

function scopeOf(stack: ReadStack, parent?: Scope, parameters: Scope["parameters"] = {}): Scope {
  const nested = new Map<string, Scope>();
  const scope: Scope = { stack, parameters, nested, ...(parent && { parent }) };
  for (const [id, inner] of stack.nested) {
    const { Parameters = {} } = stack.template.Resources[id]?.Properties ?? {};
    nested.set(id, scopeOf({ ...inner, ...placeOfParent(stack) }, scope, Parameters as Scope["parameters"]));
  }
  return scope;
}

const placeOfParent = ({ account, region, stage }: ReadStack) => ({ account, region, stage });

const withNested = (scope: Scope): Scope[] => [scope, ...[...scope.nested.values()].flatMap(withNested)];

class Merger {
  readonly #scopes: readonly Scope[];
  /** How many stacks have the logical id. */
  readonly #counts = new Map<string, number>();

  constructor(scopes: readonly Scope[]) {
    this.#scopes = scopes;
    for (const { stack } of scopes) {
      for (const id of Object.keys(stack.template.Resources)) {
        this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
      }
    }
  }

  merged(): MergedTemplate {
    return {
      Resources: Object.fromEntries(
        this.#scopes.flatMap((scope) => {
          const { account, region, stage } = scope.stack;
          return Object.entries(scope.stack.template.Resources).map(([id, resource]) => {
            const { Properties } = resource as TemplateResource;
            const merged = {
              ...resource,
              ...(Properties && { Properties: this.#resolve(Properties, scope) as object }),
              place: { account, region, stage },
            };
            return [this.#idOf(id, scope), merged];
          });
        }),
      ),
    };
  }

  /** The logical id, unless several stacks have it. */
  #idOf(id: string, { stack }: Scope): string {
    if (this.#counts.get(id) === 1) return id;
    const sameName = this.#scopes.filter((each) => each.stack.name === stack.name);
    return `${sameName.length > 1 ? stack.file : stack.name}/${id}`;
  }

  #resolve(value: unknown, scope: Scope): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#resolve(each, scope));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value);
    const [name, argument] = entries[0] ?? [];
    const resolved =
      entries.length === 1 && name !== undefined ? this.#intrinsic(name, argument, scope) : undefined;
    return (
      resolved ?? Object.fromEntries(entries.map(([key, each]) => [key, this.#resolve(each, scope)] as const))
    );
  }

  /** `undefined` for a function that names no resource. */
  #intrinsic(name: string, argument: unknown, scope: Scope): unknown {
    if (name === "Ref") return this.#reference(`${argument}`, scope);
    if (name === "Fn::GetAtt") return this.#attribute(argument, scope);
    if (name === "Fn::Sub") return this.#substituted(argument, scope);
    if (name === "Fn::ImportValue") return this.#imported(this.#resolve(argument, scope), scope);
    if (name === "Fn::GetStackOutput") return this.#output(argument, scope);
    return undefined;
  }

  #reference(id: string, scope: Scope): unknown {
    const { stack, parent, parameters } = scope;
    if (Object.hasOwn(stack.template.Resources, id)) return { Ref: this.#idOf(id, scope) };
    const isGiven = parent !== undefined && Object.hasOwn(parameters, id);
    return isGiven ? this.#resolve(parameters[id], parent) : undefined;
  }

  #attribute(argument: unknown, scope: Scope): unknown {
    const [id = "", ...rest] =
      typeof argument === "string" ? argument.split(".") : [argument].flat().map(String);
    const attribute = rest.join(".");
    const nested = scope.nested.get(id);
    const output = /^Outputs\.(.*)/.exec(attribute)?.[1];
    if (nested && output !== undefined) return this.#valueOf(nested, output);
    return Object.hasOwn(scope.stack.template.Resources, id)
      ? { "Fn::GetAtt": [this.#idOf(id, scope), attribute] }
      : undefined;
  }

  #substituted(argument: unknown, scope: Scope): unknown {
    const [text, own = {}] = [argument].flat() as [unknown, object?];
    if (typeof text !== "string") return undefined;
    const parts = text.split(/(\$\{[^!{}][^{}]*\})/).map((part) => {
      const name = /^\$\{([^!{}][^{}]*)\}$/.exec(part)?.[1]?.trim();
      if (name === undefined) return part.replaceAll("${!", "${");
      if (Object.hasOwn(own, name)) return this.#resolve((own as Record<string, unknown>)[name], scope);
      return this.#resolve(name.includes(".") ? { "Fn::GetAtt": name } : { Ref: name }, scope);
    });
    return { "Fn::Join": ["", parts.filter((part) => part !== "")] };
  }

  #imported(name: unknown, scope: Scope): unknown {
    for (const other of this.#scopes) {
      for (const [id, { Export }] of Object.entries(other.stack.template.Outputs ?? {})) {
        if (Export === undefined || !isSamePlace(other.stack, scope.stack)) continue;
        if (JSON.stringify(this.#resolve(Export.Name, other)) === JSON.stringify(name))
          return this.#valueOf(other, id);
      }
    }
    return undefined;
  }

  #output(argument: unknown, scope: Scope): unknown {
    const { StackName, OutputName } = Object(argument) as Record<string, unknown>;
    const other = this.#scopes.find(
      ({ stack }) => stack.name === StackName && stack.stage === scope.stack.stage,
    );
    return other && this.#valueOf(other, `${OutputName}`);
  }

  #valueOf(scope: Scope, output: string): unknown {
    const { Outputs = {} } = scope.stack.template as Template;
    return this.#resolve(Outputs[output]?.Value, scope);
  }
}

const isSamePlace = (one: ReadStack, other: ReadStack) =>
  one.account === other.account && one.region === other.region && one.stage === other.stage;
