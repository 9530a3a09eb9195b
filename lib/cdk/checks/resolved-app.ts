// The app at synthesis: the properties of its resources as in its templates, and the constructs that they refer to.
import {
  CfnResource,
  DefaultTokenResolver,
  type IFragmentConcatenator,
  type IResolvable,
  type IResolveContext,
  Lazy,
  Reference,
  Stack,
  Stage,
  Token,
  Tokenization,
} from "aws-cdk-lib";
import type { IConstruct } from "constructs";
import { brand, isBranded } from "../brand.ts";
import type { Place, Resource, ResourceDefinition, TemplateProperties } from "../rules/app.ts";
import { MarkedApp } from "../rules/marked-app.ts";
import { type ByType, resourcesByType } from "./resources.ts";

/** Joins as CloudFormation does, because its intrinsic functions aren't text. */
const JOINED: IFragmentConcatenator = {
  join(left: unknown, right: unknown) {
    if (left === undefined || right === undefined) return left ?? right;
    return typeof left === "string" && typeof right === "string"
      ? left + right
      : { "Fn::Join": ["", [left, right]] };
  },
};

const FROM_APP = Symbol.for("onceonly.fromApp");

/** A text that is computed from the resolved app. Reading the app doesn't compute it, because that would never end. */
export function fromApp(produce: () => string): string {
  const text = Lazy.uncachedString({ produce });
  brand(Tokenization.reverseString(text).firstToken as IResolvable, FROM_APP);
  return text;
}

/** Replaces each reference to a construct with a mark. */
class MarkingResolver extends DefaultTokenResolver {
  readonly #markOf: (target: IConstruct) => unknown;

  constructor(markOf: (target: IConstruct) => unknown) {
    super(JOINED);
    this.#markOf = markOf;
  }

  override resolveToken(
    token: IResolvable,
    context: IResolveContext,
    postProcessor: Parameters<DefaultTokenResolver["resolveToken"]>[2],
  ): unknown {
    if (isBranded(token, FROM_APP)) return "?";
    return Reference.isReference(token)
      ? this.#markOf(token.target)
      : super.resolveToken(token, context, postProcessor);
  }
}

const known = new WeakMap<ByType, ResolvedApp>();

export class ResolvedApp extends MarkedApp {
  static of(construct: IConstruct): ResolvedApp {
    const resources = resourcesByType(construct);
    const app = known.get(resources) ?? new ResolvedApp(resources);
    known.set(resources, app);
    return app;
  }

  readonly #resources: ByType;

  private constructor(resources: ByType) {
    super();
    this.#resources = resources;
  }

  ofType(type: string): readonly CfnResource[] {
    return this.#resources.get(type) ?? [];
  }

  placeOf(resource: Resource): Place {
    const { account, region } = Stack.of(constructOf(resource));
    return {
      account: unlessToken(account),
      region: unlessToken(region),
      stage: Stage.of(constructOf(resource)),
    };
  }

  rootOf(resource: Resource): IConstruct {
    return constructOf(resource).node.root;
  }

  /** The properties of a construct's resource, such as a function's. */
  propertiesAt(construct: IConstruct): TemplateProperties {
    const resource = resourceIn(construct);
    return resource ? this.propertiesOf(resource) : {};
  }

  /** Reads the template, because overrides and plain resources aren't in the typed properties of a construct. */
  protected read(resource: Resource): ResourceDefinition {
    const element = resource as unknown as { _toCloudFormation(): object };
    const template = this.resolve(element._toCloudFormation(), constructOf(resource));
    const { Resources = {} } = template as {
      readonly Resources?: Readonly<Record<string, ResourceDefinition>>;
    };
    const [definition = {}] = Object.values(Resources);
    return definition;
  }

  /** A value as in the template, with marks for references. */
  resolve(value: unknown, scope: IConstruct): unknown {
    const resolver = new MarkingResolver((target) => this.mark(target));
    return Tokenization.resolve(value, { scope, resolver, preparing: false });
  }
}

/** The resource of a construct, such as a function's. */
export function resourceIn({ node: { defaultChild } }: IConstruct): CfnResource | undefined {
  return CfnResource.isCfnResource(defaultChild) ? defaultChild : undefined;
}

/** The resource of a CDK construct that always has one. */
export const resourceOf = (construct: IConstruct) => construct.node.defaultChild as CfnResource;

/** At synthesis each resource is a construct. */
export const constructOf = (resource: Resource) => resource as unknown as IConstruct;

const unlessToken = (value: string) => (Token.isUnresolved(value) ? undefined : value);
