// The resources of an app by type. Walking a large app is slow, so all checks of a synthesis share one walk.
import { CfnResource, Stage } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

export type ByType = ReadonlyMap<string, readonly CfnResource[]>;

/** By the stage that is synthesized; `undefined` until its validation. */
const walks = new WeakMap<IConstruct, ByType | undefined>();

/** Makes each synthesis walk the app only once. CDK validates a stage before the constructs in it. */
export function walkOnce(construct: IConstruct): void {
  const stage = stageOf(construct);
  if (walks.has(stage)) return;
  walks.set(stage, undefined);
  stage.node.addValidation({
    validate: () => {
      walks.set(stage, walk(stage));
      return [];
    },
  });
}

/** All constructs of a synthesis get the same map; its validation starts with a new one. */
export function resourcesByType(construct: IConstruct): ByType {
  const stage = stageOf(construct);
  return walks.get(stage) ?? walk(stage);
}

function stageOf(construct: IConstruct): IConstruct {
  return Stage.of(construct) ?? construct.node.root;
}

function walk({ node }: IConstruct): ByType {
  const found = new Map<string, CfnResource[]>();
  for (const construct of node.root.node.findAll()) {
    if (!CfnResource.isCfnResource(construct)) continue;
    const { cfnResourceType } = construct;
    const others = found.get(cfnResourceType);
    if (others) others.push(construct);
    else found.set(cfnResourceType, [construct]);
  }
  return found;
}
