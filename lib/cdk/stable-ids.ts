// What CDK names by the whole path of something else, under ids that stay when a stack moves or gets another id. A logical
// id that followed the path would change with it, and CloudFormation would replace the resource.
import { Stack, Stage } from "aws-cdk-lib";
import type { EventSourceMappingOptions, IEventSource, IFunction } from "aws-cdk-lib/aws-lambda";
import type { IConstruct } from "constructs";

/** The path of a construct from the stack of its user; that of a construct of another stack begins in their stage. */
export function relativePath(user: IConstruct, { node }: IConstruct): string {
  const stack = Stack.of(user);
  const around = node.scopes.includes(stack) ? stack : (Stage.of(user) ?? user.node.root);
  const inside = node.scopes.slice(node.scopes.indexOf(around) + 1);
  return inside
    .map(({ node: { id } }) => id)
    .filter((id) => id !== "Default")
    .join(".");
}

/** Lambda refuses a second mapping of one source to one function, so that one with another id cannot replace it. */
export function addEventSource(fn: IFunction, id: string, source: IEventSource): void {
  const addMapping = (_: string, options: EventSourceMappingOptions) => fn.addEventSourceMapping(id, options);
  source.bind(
    new Proxy(fn, {
      get: (target, name) =>
        name === "addEventSourceMapping" ? addMapping : Reflect.get(target, name, target),
    }),
  );
}
