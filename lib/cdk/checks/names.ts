// Whether two resources of an app have one name in one place: the second one could not be created.
import { type CfnResource, Stack, Stage, Token } from "aws-cdk-lib";
import { ownerPath } from "./resources.ts";
import type { ResolvedApp } from "./windows/resolved-app.ts";

/** @param property the name of the resource in its template: "TableName" */
export function nameFaults(
  app: ResolvedApp,
  resource: CfnResource,
  property: string,
  types: readonly string[],
) {
  const { [property]: name } = app.propertiesOf(resource);
  if (typeof name !== "string") return [];
  return types
    .flatMap((type) => app.ofType(type))
    .filter((each) => each !== resource && app.propertiesOf(each)[property] === name)
    .filter((each) => isSamePlace(each, resource))
    .map(
      (each) =>
        `${ownerPath(resource)} and ${ownerPath(each)} both have the name ${name}, so only one of them can be created: give each its own name, or leave the names out`,
    );
}

/** Stages without an account and Region may be deployed to different ones. Of two resources with conditions one may be left out. */
function isSamePlace(one: CfnResource, other: CfnResource): boolean {
  const [{ account, region }, place] = [Stack.of(one), Stack.of(other)];
  if (account !== place.account || region !== place.region) return false;
  if (one.cfnOptions.condition || other.cfnOptions.condition) return false;
  return !Token.isUnresolved(`${account}${region}`) || Stage.of(one) === Stage.of(other);
}
