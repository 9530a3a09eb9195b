// What the names in one template stand for locally: parameters, pseudo parameters, conditions, mappings, and the
// resources that are deployed already.
import type { Deployed } from "./deploy-resource.ts";
import { type IntrinsicScope, NO_VALUE, resolveCondition } from "./intrinsics.ts";
import { LOCAL_ACCOUNT_ID, LOCAL_PARTITION, LOCAL_URL_SUFFIX } from "./local-environment.ts";
import type { Template } from "./template.ts";

export interface StackScopeOptions {
  readonly template: Template;
  readonly stackName: string;
  readonly region: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** By logical id; grows while the stack is deployed. */
  readonly deployed: ReadonlyMap<string, Deployed>;
  /** By export name, of the stacks before. */
  readonly exports: ReadonlyMap<string, unknown>;
}

export function createStackScope(options: StackScopeOptions): IntrinsicScope {
  const { template, stackName, region, parameters, deployed, exports } = options;
  const pseudoParameters: Readonly<Record<string, unknown>> = {
    "AWS::AccountId": LOCAL_ACCOUNT_ID,
    "AWS::NoValue": NO_VALUE,
    "AWS::NotificationARNs": [],
    "AWS::Partition": LOCAL_PARTITION,
    "AWS::Region": region,
    "AWS::StackId": `arn:${LOCAL_PARTITION}:cloudformation:${region}:${LOCAL_ACCOUNT_ID}:stack/${stackName}/local`,
    "AWS::StackName": stackName,
    "AWS::URLSuffix": LOCAL_URL_SUFFIX,
  };

  function parameterValue(name: string): unknown {
    const { Type, Default } = template.Parameters?.[name] ?? { Type: "String" };
    const fromParameterStore = Type.startsWith("AWS::SSM::");
    const value = parameters[name] ?? (fromParameterStore ? undefined : Default);
    if (value === undefined) {
      throw new Error(
        `parameter ${name} of ${stackName} has no value here: give it one with --parameter ${name}=…`,
      );
    }
    const isList = Type === "CommaDelimitedList" || Type.startsWith("List<");
    return isList && typeof value === "string" ? value.split(",") : value;
  }

  function deployedResource(logicalId: string): Deployed {
    const resource = deployed.get(logicalId);
    if (!resource) throw new Error(`${stackName} refers to ${logicalId}, which its template does not have`);
    return resource;
  }

  /** An attribute of a resource that is not run, which starting the rest must not fail on. */
  function placeholder(ref: string, attribute: string, type: string): string {
    if (!attribute.endsWith("Arn")) return `${ref}.${attribute}`;
    const service = type.split("::")[1]?.toLowerCase();
    return `arn:${LOCAL_PARTITION}:${service}:${region}:${LOCAL_ACCOUNT_ID}:${ref}`;
  }

  const scope: IntrinsicScope = {
    ref(name) {
      if (name in pseudoParameters) return pseudoParameters[name];
      return name in (template.Parameters ?? {}) ? parameterValue(name) : deployedResource(name).ref;
    },
    attribute(logicalId, attribute) {
      const { ref, attributes } = deployedResource(logicalId);
      const type = String(template.Resources[logicalId]?.Type);
      if (attributes === undefined) return placeholder(ref, attribute, type);
      if (attributes[attribute] === undefined) {
        throw new Error(`attribute ${attribute} of ${logicalId} (${type}) is not known here`);
      }
      return attributes[attribute];
    },
    condition(name) {
      return resolveCondition(template.Conditions?.[name], scope);
    },
    mapping(map, first, second) {
      const value = template.Mappings?.[map]?.[first]?.[second];
      if (value === undefined)
        throw new Error(`mapping ${map} of ${stackName} has no entry ${first}.${second}`);
      return value;
    },
    importValue(name) {
      if (!exports.has(name))
        throw new Error(`${stackName} imports ${name}, which no stack before it exports`);
      return exports.get(name);
    },
  };
  return scope;
}
