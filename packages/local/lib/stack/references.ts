// Which resources a resource needs before it can be deployed, and the order that follows. Pure.
import { variablesOf } from "./substitution.ts";
import type { Template, TemplateResource } from "./template.ts";

/** The logical ids in an order in which each resource comes after those it refers to. */
export function deploymentOrder(resources: Template["Resources"]): string[] {
  const order: string[] = [];
  const visited = new Set<string>();
  const visit = (logicalId: string, path: readonly string[]): void => {
    if (path.includes(logicalId)) {
      throw new Error(`resources refer to each other in a circle: ${[...path, logicalId].join(" → ")}`);
    }
    if (visited.has(logicalId)) return;
    const resource = resources[logicalId] as TemplateResource;
    for (const needed of referencesOf(resource)) {
      if (Object.hasOwn(resources, needed)) visit(needed, [...path, logicalId]);
    }
    visited.add(logicalId);
    order.push(logicalId);
  };
  for (const logicalId of Object.keys(resources)) visit(logicalId, []);
  return order;
}

function referencesOf(resource: TemplateResource): Set<string> {
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
