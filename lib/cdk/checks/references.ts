// The constructs that a template value refers to.
import { DefaultTokenResolver, Reference, StringConcat, Tokenization } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

class ReferenceCollector extends DefaultTokenResolver {
  readonly targets = new Set<IConstruct>();

  constructor() {
    super(new StringConcat());
  }

  override resolveToken(...args: Parameters<DefaultTokenResolver["resolveToken"]>): unknown {
    const [token] = args;
    if (Reference.isReference(token)) this.targets.add(token.target);
    return super.resolveToken(...args);
  }
}

/** Cached, because each function asks for the references of all event sources and routes. */
const known = new WeakMap<IConstruct, Map<unknown, IConstruct[]>>();

/**
 * The low-level constructs that a value refers to: `AWS::SQS::Queue` for the ARN of a queue. Imported constructs have none.
 */
export function referencedBy(value: unknown, scope: IConstruct): IConstruct[] {
  const ofScope = known.get(scope) ?? new Map<unknown, IConstruct[]>();
  known.set(scope, ofScope);
  const found = ofScope.get(value) ?? resolvedReferences(value, scope);
  // Not cached if empty: a lazy value may have no reference yet.
  if (found.length > 0) ofScope.set(value, found);
  return found;
}

function resolvedReferences(value: unknown, scope: IConstruct): IConstruct[] {
  const resolver = new ReferenceCollector();
  Tokenization.resolve(value, { scope, resolver, preparing: false });
  return [...resolver.targets];
}

/** The names of functions that CDK creates for itself: singletons by a UUID, and the framework of custom resources. */
const OF_CDK = /[\da-f]{32}$|^framework-on(?:Event|Timeout)$|^framework-isComplete$/i;

/** Whether CDK added the function to create resources, as `AwsCustomResource` and `BucketDeployment` do. */
export function isOfCdk({ node }: IConstruct): boolean {
  return OF_CDK.test(node.id);
}
