// The resources of CloudFormation that come out of a SAM template, while they are being made.
import type { TemplateResource } from "../template.ts";

export type SamProperties = Readonly<Record<string, unknown>>;

export class Expansion {
  readonly resources: Record<string, TemplateResource> = {};
  readonly notRun: string[] = [];
  /** The stages of REST APIs, which come after the methods. */
  readonly #stages: [restApi: string, logicalId: string, stage: TemplateResource][] = [];
  /** The authorizer that an API uses if a path names none, by API. */
  readonly defaultAuthorizers = new Map<string, string>();

  add(logicalId: string, Type: string, Properties: SamProperties, from: TemplateResource = { Type }): void {
    const { Condition, DependsOn } = from;
    this.resources[logicalId] = {
      Type,
      Properties,
      ...(Condition !== undefined && { Condition }),
      ...(DependsOn !== undefined && { DependsOn }),
    };
  }

  /** @param reason also names the part of the resource that is meant */
  leaveOut(type: string, logicalId: string, reason: string): void {
    this.notRun.push(`${type} ${logicalId} (${logicalId}): ${reason}`);
  }

  addStage(restApi: string, logicalId: string, stage: TemplateResource): void {
    this.#stages.push([restApi, logicalId, stage]);
  }

  /** The resource of a path of a REST API, with those that it lies in. */
  pathOf(restApi: string, path: string): unknown {
    let parent: unknown = { "Fn::GetAtt": [restApi, "RootResourceId"] };
    let logicalId = restApi;
    for (const part of path.split("/").filter((each) => each !== "")) {
      logicalId += `Path${[...part].map((letter) => (/\w/.test(letter) ? letter : letter.codePointAt(0))).join("")}`;
      this.add(logicalId, "AWS::ApiGateway::Resource", {
        RestApiId: { Ref: restApi },
        ParentId: parent,
        PathPart: part,
      });
      parent = { Ref: logicalId };
    }
    return parent;
  }

  finished(): Readonly<Record<string, TemplateResource>> {
    for (const [restApi, logicalId, stage] of this.#stages) {
      const methods = Object.entries(this.resources).filter(
        ([, { Type, Properties }]) =>
          Type === "AWS::ApiGateway::Method" && Object(Properties?.RestApiId).Ref === restApi,
      );
      this.resources[logicalId] = { ...stage, DependsOn: methods.map(([id]) => id) };
    }
    return this.resources;
  }
}
