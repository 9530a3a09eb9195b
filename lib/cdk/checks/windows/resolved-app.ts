// The properties of an app's resources as its templates will say them, with the constructs that they refer to.
import {
  CfnResource,
  DefaultTokenResolver,
  type IFragmentConcatenator,
  type IResolvable,
  type IResolveContext,
  Reference,
  Tokenization,
} from "aws-cdk-lib";
import type { IConstruct } from "constructs";
import { type ByType, resourcesByType } from "../resources.ts";
import { flatText, NAMED_TYPES, NamedResources, nameIn } from "./named.ts";

/** Properties by their names in templates. A value that is known at deployment only is an intrinsic function. */
export type TemplateProperties = Readonly<Record<string, unknown>>;

const MARK = "onceonly:construct:";

/** As CloudFormation joins: its intrinsic functions are no text. */
const JOINED: IFragmentConcatenator = {
  join(left: unknown, right: unknown) {
    if (left === undefined || right === undefined) return left ?? right;
    return typeof left === "string" && typeof right === "string"
      ? left + right
      : { "Fn::Join": ["", [left, right]] };
  },
};

/** Puts a mark in the place of each reference to a construct. */
class MarkingResolver extends DefaultTokenResolver {
  readonly #targets: IConstruct[];

  constructor(targets: IConstruct[]) {
    super(JOINED);
    this.#targets = targets;
  }

  override resolveToken(
    token: IResolvable,
    context: IResolveContext,
    postProcessor: Parameters<DefaultTokenResolver["resolveToken"]>[2],
  ): unknown {
    if (!Reference.isReference(token)) return super.resolveToken(token, context, postProcessor);
    // The shape of an intrinsic function is taken where a property wants a number.
    return { Ref: `${MARK}${this.#targets.push(token.target) - 1};` };
  }
}

const known = new WeakMap<ByType, ResolvedApp>();

/** Each resource is resolved once in a synthesis. */
export class ResolvedApp {
  static of(construct: IConstruct): ResolvedApp {
    const resources = resourcesByType(construct);
    const app = known.get(resources) ?? new ResolvedApp(resources);
    known.set(resources, app);
    return app;
  }

  readonly #resources: ByType;
  readonly #targets: IConstruct[] = [];
  readonly #properties = new Map<IConstruct, TemplateProperties>();
  readonly #found = new WeakMap<object, readonly CfnResource[]>();
  #named: NamedResources | undefined;

  private constructor(resources: ByType) {
    this.#resources = resources;
  }

  ofType(type: string): readonly CfnResource[] {
    return this.#resources.get(type) ?? [];
  }

  propertiesOf(resource: CfnResource): TemplateProperties {
    const properties = this.#properties.get(resource) ?? this.#resolve(resource);
    this.#properties.set(resource, properties);
    return properties;
  }

  /** The properties of the resource in a construct, such as a function. */
  propertiesAt({ node: { defaultChild } }: IConstruct): TemplateProperties {
    return CfnResource.isCfnResource(defaultChild) ? this.propertiesOf(defaultChild) : {};
  }

  /** Overrides and plain resources are in the template, and not in the typed properties of a construct. */
  #resolve(resource: CfnResource): TemplateProperties {
    const { Resources = {} } = Object(
      this.resolve((resource as unknown as TemplateElement)._toCloudFormation(), resource),
    );
    const [definition] = Object.values<{ readonly Properties?: TemplateProperties }>(Resources);
    return definition?.Properties ?? {};
  }

  /** A value as templates say it, with marks for references. */
  resolve(value: unknown, scope: IConstruct): unknown {
    const resolver = new MarkingResolver(this.#targets);
    return Tokenization.resolve(value, { scope, resolver, preparing: false });
  }

  /** A part as a text that is the same wherever the part is the same. */
  textOf(part: unknown): string | undefined {
    const path = (_: string, index: string) => this.#targets[Number(index)]?.node.path ?? "";
    return JSON.stringify(part)?.replace(new RegExp(`${MARK}(\\d+);`, "g"), path);
  }

  /** What a property refers to that takes a bare name too, such as `FunctionName`. */
  namedIn(name: unknown, service: string, near: IConstruct): readonly CfnResource[] {
    const isBare = typeof name === "string" && !name.includes(":");
    return isBare ? this.#names().byName(service, name, near) : this.targetsIn(name);
  }

  #names(): NamedResources {
    if (this.#named) return this.#named;
    this.#named = new NamedResources();
    for (const resource of NAMED_TYPES.flatMap((type) => this.ofType(type))) {
      const name = nameIn(resource, this.propertiesOf(resource));
      if (name !== undefined) this.#named.add(resource, name);
    }
    return this.#named;
  }

  /** The resources that a part of resolved properties refers to. A version or an alias stands for its function. */
  targetsIn(part: unknown): readonly CfnResource[] {
    // Each function asks about the targets of all sources.
    const found = this.#found.get(Object(part)) ?? this.#find(part);
    if (typeof part === "object" && part !== null) this.#found.set(part, found);
    return found;
  }

  #find(part: unknown): readonly CfnResource[] {
    const text = JSON.stringify(part) ?? "";
    const found = [...text.matchAll(new RegExp(`${MARK}(\\d+);`, "g"))].map(([, index]) => {
      const target = this.#targets[Number(index)];
      if (!target || !CfnResource.isCfnResource(target)) return [];
      return FUNCTION_NAMES.has(target.cfnResourceType)
        ? this.namedIn(valueIn(this.propertiesOf(target), "FunctionName"), "lambda", target)
        : target;
    });
    // Imports name what is in another stack by a literal ARN.
    const named = /\barn:/.test(text) ? this.#names().byArn(flatText(part)) : [];
    return [...new Set([...found.flat(), ...named])];
  }

  targetIn(part: unknown, ...types: string[]): CfnResource | undefined {
    return this.targetsIn(part).find(({ cfnResourceType }) => types.includes(cfnResourceType));
  }
}

const FUNCTION_NAMES = new Set(["AWS::Lambda::Version", "AWS::Lambda::Alias"]);

interface TemplateElement {
  _toCloudFormation(): object;
}

/** Empty for what is no object. */
export function objectIn(value: unknown): TemplateProperties {
  return Object(value);
}

export function valueIn(properties: TemplateProperties, ...path: string[]): unknown {
  return path.reduce<unknown>((part, name) => Object(part)[name], properties);
}
