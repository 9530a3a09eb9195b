// The shop's resources as plain CloudFormation and as SAM, in YAML with the short forms of functions.
import {
  Document,
  isMap,
  isScalar,
  type Node,
  type Pair,
  Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import type { Resource, ShopTemplate } from "./shop.ts";

const MADE = "Made from the constructs by tools/without-cdk. How to deploy it: docs/guides/without-cdk.md";

export function cloudFormationOf(template: ShopTemplate): string {
  return yamlOf({ AWSTemplateFormatVersion: "2010-09-09", ...template });
}

export function samOf(template: ShopTemplate): string {
  return yamlOf({
    AWSTemplateFormatVersion: "2010-09-09",
    Transform: "AWS::Serverless-2016-10-31",
    Parameters: template.Parameters,
    Resources: serverless(template.Resources),
  });
}

/** The function that a property of an event source names. */
const functionIn = (value: unknown): string => Object(value).Ref ?? Object(value)["Fn::GetAtt"]?.[0];

const MADE_BY_SAM = new Set(["AWS::Lambda::Permission", "AWS::Lambda::Version"]);

/** A function's event sources and its alias are part of the function, and SAM creates versions and permissions for it. */
function serverless(resources: ShopTemplate["Resources"]): Record<string, object> {
  const events: Record<string, Record<string, object>> = {};
  const aliases: Record<string, unknown> = {};
  const others: [string, Resource][] = [];
  for (const [id, resource] of Object.entries(resources)) {
    const { Type, Properties } = resource;
    if (Type === "AWS::Lambda::EventSourceMapping") {
      const { FunctionName, EventSourceArn, ...settings } = Properties;
      const isStream = "StartingPosition" in settings;
      const event = isStream
        ? { Type: "DynamoDB", Properties: { Stream: EventSourceArn, ...settings } }
        : { Type: "SQS", Properties: { Queue: EventSourceArn, ...settings } };
      add(functionIn(FunctionName), id, event);
    } else if (Type === "AWS::Events::Rule") {
      const [{ Arn }] = Properties.Targets as [{ readonly Arn: unknown }];
      add(functionIn(Arn), id, { Type: "Schedule", Properties: { Schedule: Properties.ScheduleExpression } });
    } else if (Type === "AWS::Lambda::Alias") aliases[functionIn(Properties.FunctionName)] = Properties.Name;
    else if (!MADE_BY_SAM.has(Type)) others.push([id, resource]);
  }
  return Object.fromEntries(
    others.map(([id, resource]) => {
      if (resource.Type !== "AWS::Lambda::Function") return [id, resource];
      const { Code, ...settings } = resource.Properties;
      const [Events, AutoPublishAlias] = [events[id], aliases[id]];
      return [
        id,
        {
          ...resource,
          Type: "AWS::Serverless::Function",
          // The code is built already.
          Metadata: { SkipBuild: true },
          Properties: {
            CodeUri: Code,
            ...settings,
            ...(AutoPublishAlias !== undefined && { AutoPublishAlias }),
            ...(Events && { Events }),
          },
        },
      ];
    }),
  );

  function add(fn: string, id: string, event: object): void {
    events[fn] = { ...events[fn], [id]: event };
  }
}

function yamlOf(template: object): string {
  const document = new Document(template, { aliasDuplicateObjects: false, schema: "yaml-1.1" });
  document.commentBefore = ` ${MADE}`;
  visit(document, { Map: (_, map) => shortFormOf(map) });
  spaceOut(document.get("Resources"));
  return document.toString({ lineWidth: 0 });
}

function shortFormOf(map: YAMLMap): Node | undefined {
  const [pair] = map.items as Pair<Scalar<string>, Node>[];
  if (map.items.length !== 1 || !pair?.value) return undefined;
  const { key, value } = pair;
  if (key.value === "Ref") return tagged("!Ref", String((value as Scalar).value));
  if (key.value === "Fn::GetAtt") return tagged("!GetAtt", (value as YAMLSeq).toJSON().join("."));
  if (key.value === "Fn::Join")
    return tagged("!Sub", substitution((value as YAMLSeq).toJSON() as [string, unknown[]]));
  return undefined;
}

function tagged(tag: string, text: string): Scalar {
  const scalar = new Scalar(text);
  scalar.tag = tag;
  return scalar;
}

/** Joined parts as one text with `${…}`. */
function substitution([separator, parts]: [string, unknown[]]): string {
  if (separator !== "") throw new Error(`parts are joined by ${JSON.stringify(separator)}`);
  return parts
    .map((part) => {
      if (typeof part === "string") return part.replaceAll("${", "${!");
      const { Ref, "Fn::GetAtt": attribute } = Object(part);
      return `\${${Ref ?? attribute.join(".")}}`;
    })
    .join("");
}

function spaceOut(resources: unknown): void {
  if (!isMap(resources)) return;
  for (const { key } of resources.items.slice(1)) if (isScalar(key)) key.spaceBefore = true;
}
