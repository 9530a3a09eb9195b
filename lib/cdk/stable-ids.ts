// CDK derives some ids from the whole path of another construct. These ids stay the same when a stack moves or gets another
// id; otherwise the logical id would change with the path, and CloudFormation would replace the resource.
import { Stack, Stage } from "aws-cdk-lib";
import type { EventSourceMappingOptions, IEventSource, IFunction } from "aws-cdk-lib/aws-lambda";
import type { IConstruct } from "constructs";

/** The path of a construct relative to its user's stack, or to their stage if it's in another stack. */
export function relativePath(user: IConstruct, { node }: IConstruct): string {
  const stack = Stack.of(user);
  const around = node.scopes.includes(stack) ? stack : (Stage.of(user) ?? user.node.root);
  const inside = node.scopes.slice(node.scopes.indexOf(around) + 1);
  return inside
    .map(({ node: { id } }) => id)
    .filter((id) => id !== "Default")
    .join(".");
}

/** Lambda rejects a second mapping of one source to one function, so a mapping whose id changed couldn't be replaced. */
export function addEventSource(fn: IFunction, id: string, source: IEventSource): void {
  const addMapping = (_: string, options: EventSourceMappingOptions) => fn.addEventSourceMapping(id, options);
  source.bind(
    new Proxy(fn, {
      get: (target, name) =>
        name === "addEventSourceMapping" ? addMapping : Reflect.get(target, name, target),
    }),
  );
}
