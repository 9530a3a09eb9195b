// Resolves the names in one template locally: parameters, pseudo parameters, conditions, mappings, and the
// resources that are already deployed.
import type { Deployed } from "./deploy-resource.ts";
import { type IntrinsicScope, NO_VALUE, resolveCondition } from "./intrinsics.ts";
import { LOCAL_ACCOUNT_ID, LOCAL_PARTITION, LOCAL_URL_SUFFIX } from "./local-environment.ts";
import type { Template } from "./template.ts";

export interface StackScopeOptions {
  readonly template: Template;
  readonly stackName: string;
  readonly region: string;
  /** @default the local one */
  readonly account?: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
  /** By logical id; grows while the stack is deployed. */
  readonly deployed: ReadonlyMap<string, Deployed>;
  /** By export name, of the stacks before. */
  readonly exports: ReadonlyMap<string, unknown>;
  /** By `stackKey`, of the stacks before. */
  readonly outputs: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

export function stackKey(stackName: string, region: string): string {
  return `${region}/${stackName}`;
}

export function createStackScope(options: StackScopeOptions): IntrinsicScope {
  const { template, stackName, region, account, parameters, deployed, exports, outputs } = options;
  const pseudoParameters: Readonly<Record<string, unknown>> = {
    // Conditions and mappings may ask for the real one. Elsewhere it becomes the local one, as literals do.
    "AWS::AccountId": account ?? LOCAL_ACCOUNT_ID,
    "AWS::NoValue": NO_VALUE,
    "AWS::NotificationARNs": [],
    "AWS::Partition": LOCAL_PARTITION,
    "AWS::Region": region,
    "AWS::StackId": `arn:${LOCAL_PARTITION}:cloudformation:${region}:${LOCAL_ACCOUNT_ID}:stack/${stackName}/local`,
    "AWS::StackName": stackName,
    "AWS::URLSuffix": LOCAL_URL_SUFFIX,
  };

  function parameterValue(name: string): unknown {
    const { Type, Default } = { Type: "String", ...template.Parameters?.[name] };
    const fromParameterStore = Type.startsWith("AWS::SSM::");
    const given = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    const value = given ?? (fromParameterStore ? undefined : Default);
    if (value === undefined) {
      throw faultOf(`parameter ${name} of ${stackName} has no value: set it with --parameter ${name}=…`);
    }
    const isList = Type === "CommaDelimitedList" || Type.startsWith("List<");
    return isList && typeof value === "string" ? value.split(",") : value;
  }

  function deployedResource(logicalId: string): Deployed {
    const resource = deployed.get(logicalId);
    if (!resource) throw faultOf(`${stackName} refers to ${logicalId}, which isn't in its template`);
    return resource;
  }

  /** An attribute of a resource that is not run, which starting the rest must not fail on. */
  function placeholder(ref: string, attribute: string, type: string): string {
    if (!attribute.endsWith("Arn")) return `${ref}.${attribute}`;
    if (type === "AWS::IAM::Role") return `arn:${LOCAL_PARTITION}:iam::${LOCAL_ACCOUNT_ID}:role/${ref}`;
    const service = type.split("::")[1]?.toLowerCase();
    return `arn:${LOCAL_PARTITION}:${service}:${region}:${LOCAL_ACCOUNT_ID}:${ref}`;
  }

  /** Conditions that are being evaluated. */
  const asked = new Set<string>();

  const scope: IntrinsicScope = {
    ref(name) {
      if (Object.hasOwn(pseudoParameters, name)) return pseudoParameters[name];
      return Object.hasOwn(template.Parameters ?? {}, name)
        ? parameterValue(name)
        : deployedResource(name).ref;
    },
    attribute(logicalId, attribute) {
      const { ref, attributes } = deployedResource(logicalId);
      const type = String(template.Resources[logicalId]?.Type);
      if (attributes === undefined) return placeholder(ref, attribute, type);
      const value = own(attributes, attribute);
      if (value === undefined) {
        throw faultOf(`attribute ${attribute} of ${logicalId} (${type}) isn't available locally`);
      }
      return value;
    },
    condition(name) {
      const condition = own(template.Conditions, name);
      if (condition === undefined) throw faultOf(`${stackName} has no condition ${name}`);
      if (asked.has(name)) throw faultOf(`condition ${name} of ${stackName} refers to itself`);
      asked.add(name);
      try {
        return resolveCondition(condition, scope);
      } finally {
        asked.delete(name);
      }
    },
    mapping(map, first, second) {
      const value = own(own(own(template.Mappings, map), first), second);
      if (value === undefined)
        throw faultOf(`mapping ${map} of ${stackName} has no entry ${first}.${second}`);
      return value;
    },
    importValue(name) {
      if (!exports.has(name)) throw faultOf(`${stackName} imports ${name}, which no earlier stack exports`);
      return exports.get(name);
    },
    stackOutput(producer, producerRegion, output) {
      const value = own(outputs.get(stackKey(producer, producerRegion)), output);
      if (value !== undefined) return value;
      throw faultOf(
        `${stackName} refers to the output ${output} of ${producer} in ${producerRegion}, which no earlier stack has`,
      );
    },
  };
  return scope;
}

/** A member of the template's own: names such as `constructor` are in every object. */
function own(holder: unknown, name: string): unknown {
  const isHolder = typeof holder === "object" && holder !== null && Object.hasOwn(holder, name);
  return isHolder ? (holder as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** Names are the template's, and as long as it likes. */
function faultOf(message: string): Error {
  return new Error(message.length > 600 ? `${message.slice(0, 400)} … ${message.slice(-200)}` : message);
}
