// Which resources a resource needs before it can be deployed, and the order that follows. Pure.
import { variablesOf } from "./substitution.ts";
import type { Template, TemplateResource } from "./template.ts";

/**
 * The logical ids in an order in which each resource comes after those it refers to.
 * @param namedBy the resources that a resource names without a reference: they come first unless that is a circle
 */
export function deploymentOrder(
  resources: Template["Resources"],
  namedBy: (logicalId: string) => readonly string[] = () => [],
): string[] {
  const order: string[] = [];
  const visited = new Set<string>();
  const visit = (logicalId: string, path: readonly string[]): void => {
    if (path.includes(logicalId)) {
      throw new Error(`circular reference: ${[...path, logicalId].join(" → ")}`);
    }
    if (visited.has(logicalId)) return;
    const resource = resources[logicalId] as TemplateResource;
    for (const needed of referencesOf(resource)) {
      if (Object.hasOwn(resources, needed)) visit(needed, [...path, logicalId]);
    }
    const onTheWay = [...path, logicalId];
    for (const named of namedBy(logicalId)) {
      const needed = Object.hasOwn(resources, named) ? neededBy(named, resources) : undefined;
      if (needed && !onTheWay.some((each) => needed.has(each))) visit(named, onTheWay);
    }
    visited.add(logicalId);
    order.push(logicalId);
  };
  for (const logicalId of Object.keys(resources)) visit(logicalId, []);
  return order;
}

/** The resource and all those that it refers to, directly or not. */
function neededBy(
  logicalId: string,
  resources: Template["Resources"],
  found = new Set<string>(),
): Set<string> {
  if (found.has(logicalId) || !Object.hasOwn(resources, logicalId)) return found;
  found.add(logicalId);
  for (const needed of referencesOf(resources[logicalId] as TemplateResource)) {
    neededBy(needed, resources, found);
  }
  return found;
}

export function referencesOf(resource: TemplateResource): Set<string> {
  const found = new Set<string>([resource.DependsOn ?? []].flat());
  collect(resource.Properties, found);
  return found;
}

function collect(value: unknown, found: Set<string>): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, found);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, argument] of Object.entries(value)) {
    if (key === "Ref") found.add(String(argument));
    else if (key === "Fn::GetAtt") found.add(String([argument].flat()[0]).split(".")[0] as string);
    else {
      if (key === "Fn::Sub") {
        const template = String([argument].flat()[0]);
        for (const name of variablesOf(template)) found.add(name.split(".")[0] as string);
      }
      collect(argument, found);
    }
  }
}
