// Whether two resources of an app have the same name in one place, so the second couldn't be created.
import { type App, ownerPath, type Resource } from "./app.ts";

/** @param property the name of the resource in its template: "TableName" */
export function nameFaults(app: App, resource: Resource, property: string, types: readonly string[]) {
  const { [property]: name } = app.propertiesOf(resource);
  if (typeof name !== "string") return [];
  return types
    .flatMap((type) => app.ofType(type))
    .filter((each) => each !== resource && app.propertiesOf(each)[property] === name)
    .filter((each) => isSamePlace(app, each, resource))
    .map(
      (each) =>
        `${ownerPath(resource)} and ${ownerPath(each)} are both named ${name}, so only one of them can be created: give each its own name, or leave the names out`,
    );
}

/** Stages without an account and Region may go to different ones. Of two resources with conditions, only one may exist. */
function isSamePlace(app: App, one: Resource, other: Resource): boolean {
  const [{ account, region, stage }, place] = [app.placeOf(one), app.placeOf(other)];
  if (account !== place.account || region !== place.region) return false;
  if (app.definitionOf(one).Condition || app.definitionOf(other).Condition) return false;
  return (account !== undefined && region !== undefined) || stage === place.stage;
}
