// SAM's transform: templates with AWS::Serverless resources become templates of CloudFormation. Functions, tables and APIs are
// known. Other properties are named, and left out.
// https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-specification.html
import type { Template, TemplateResource } from "../template.ts";
import { Expansion, type SamProperties } from "./expansion.ts";
import { expandHttpApi, expandRestApi, expandTable } from "./sam-apis.ts";
import { expandFunction } from "./sam-function.ts";

const TRANSFORM = "AWS::Serverless-2016-10-31";

type Expand = (expansion: Expansion, logicalId: string, resource: TemplateResource) => void;

const EXPANDED: Readonly<Record<string, Expand>> = {
  "AWS::Serverless::Api": expandRestApi,
  "AWS::Serverless::HttpApi": expandHttpApi,
  "AWS::Serverless::SimpleTable": expandTable,
  "AWS::Serverless::Function": expandFunction,
};

/** `Globals` apply to these: https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-specification-template-anatomy-globals.html */
const GLOBALS = ["Api", "Function", "HttpApi", "SimpleTable"];

/** @throws Error for any other transform: only CloudFormation can run it */
export function expandSam(
  template: Template,
  stackName: string,
): { readonly template: Template; readonly notRun: readonly string[] } {
  const transforms = [template.Transform ?? []].flat().map(String);
  const other = transforms.find((name) => name !== TRANSFORM);
  if (other !== undefined) {
    throw new Error(`${stackName} uses the transform ${other}, which only CloudFormation can run`);
  }
  if (transforms.length === 0) return { template, notRun: [] };
  const expansion = new Expansion();
  const given = Object.entries(template.Resources).map(
    ([logicalId, resource]) => [logicalId, withGlobals(resource, template.Globals)] as const,
  );
  // APIs come first: functions add paths to them.
  for (const type of Object.keys(EXPANDED)) {
    for (const [logicalId, resource] of given) {
      if (resource.Type === type) EXPANDED[type]?.(expansion, logicalId, resource);
    }
  }
  for (const [logicalId, resource] of given) {
    if (!Object.hasOwn(EXPANDED, resource.Type)) expansion.resources[logicalId] = resource;
  }
  const { Transform: _, Globals: __, ...rest } = template;
  return { template: { ...rest, Resources: expansion.finished() }, notRun: expansion.notRun };
}

function withGlobals(resource: TemplateResource, globals: Template["Globals"]): TemplateResource {
  const kind = GLOBALS.find((name) => resource.Type === `AWS::Serverless::${name}`);
  const common = kind === undefined ? undefined : globals?.[kind];
  return common ? { ...resource, Properties: merged(common, resource.Properties ?? {}) } : resource;
}

/** Maps are merged, lists joined, and for anything else the resource's own value wins. */
function merged(common: SamProperties, own: SamProperties): SamProperties {
  const result: Record<string, unknown> = { ...common };
  for (const [name, value] of Object.entries(own)) {
    const before = result[name];
    if (Array.isArray(before) && Array.isArray(value)) result[name] = [...before, ...value];
    else if (isMap(before) && isMap(value)) result[name] = merged(before, value);
    else result[name] = value;
  }
  return result;
}

function isMap(value: unknown): value is SamProperties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
