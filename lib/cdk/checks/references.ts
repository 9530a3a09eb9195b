// The constructs to which a value of a template refers.
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

/** Each function asks for the references of all event sources and routes, so one is resolved once. */
const known = new WeakMap<IConstruct, Map<unknown, IConstruct[]>>();

/**
 * The low-level constructs behind a value: `AWS::SQS::Queue` for the ARN of a queue. Imported constructs have
 * none.
 */
export function referencedBy(value: unknown, scope: IConstruct): IConstruct[] {
  const ofScope = known.get(scope) ?? new Map<unknown, IConstruct[]>();
  known.set(scope, ofScope);
  const found = ofScope.get(value) ?? resolvedReferences(value, scope);
  // A lazy value may have no reference yet.
  if (found.length > 0) ofScope.set(value, found);
  return found;
}

function resolvedReferences(value: unknown, scope: IConstruct): IConstruct[] {
  const resolver = new ReferenceCollector();
  Tokenization.resolve(value, { scope, resolver, preparing: false });
  return [...resolver.targets];
}

/** The names under which CDK makes functions of its own: singletons by a UUID, and the framework of custom resources. */
const OF_CDK = /[\da-f]{32}$|^framework-on(?:Event|Timeout)$|^framework-isComplete$/i;

/** Whether CDK made the function to make resources, such as `AwsCustomResource` or `BucketDeployment` do. */
export function isOfCdk({ node }: IConstruct): boolean {
  return OF_CDK.test(node.id);
}
