// The app of a synthesis: the properties of its resources as its templates will say them, with the constructs that they refer to.
import {
  CfnResource,
  DefaultTokenResolver,
  type IFragmentConcatenator,
  type IResolvable,
  type IResolveContext,
  Reference,
  Stack,
  Stage,
  Token,
  Tokenization,
} from "aws-cdk-lib";
import type { IConstruct } from "constructs";
import type { Place, Resource, ResourceDefinition, TemplateProperties } from "../rules/app.ts";
import { MarkedApp } from "../rules/marked-app.ts";
import { type ByType, resourcesByType } from "./resources.ts";

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

  /** The properties of the resource in a construct, such as a function. */
  propertiesAt(construct: IConstruct): TemplateProperties {
    const resource = resourceIn(construct);
    return resource ? this.propertiesOf(resource) : {};
  }

  /** Overrides and plain resources are in the template, and not in the typed properties of a construct. */
  protected read(resource: Resource): ResourceDefinition {
    const element = resource as unknown as { _toCloudFormation(): object };
    const { Resources = {} } = this.resolve(element._toCloudFormation(), constructOf(resource));
    const [definition = {}] = Object.values<ResourceDefinition>(Resources);
    return definition;
  }

  /** A value as templates say it, with marks for references. */
  // biome-ignore lint/suspicious/noExplicitAny: any value of a template
  resolve(value: unknown, scope: IConstruct): any {
    const resolver = new MarkingResolver((target) => this.mark(target));
    return Tokenization.resolve(value, { scope, resolver, preparing: false });
  }
}

/** The resource in a construct, such as a function. */
export function resourceIn({ node: { defaultChild } }: IConstruct): CfnResource | undefined {
  return CfnResource.isCfnResource(defaultChild) ? defaultChild : undefined;
}

/** The resource in a construct of the CDK's own that always has one. */
export const resourceOf = (construct: IConstruct) => construct.node.defaultChild as CfnResource;

/** In a synthesis each resource is a construct. */
export const constructOf = (resource: Resource) => resource as unknown as IConstruct;

const unlessToken = (value: string) => (Token.isUnresolved(value) ? undefined : value);
