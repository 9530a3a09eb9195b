// Deploys one synthesized stack: each resource after those it refers to, by the deployer of its type.
import { createHash } from "node:crypto";
import type { SynthesizedStack } from "./assembly.ts";
import type { Deployed } from "./deploy-resource.ts";
import { isDescribed } from "./described-run.ts";
import { type IntrinsicScope, resolveCondition, resolveIntrinsics } from "./intrinsics.ts";
import { withLocalAddresses } from "./local-addresses.ts";
import { LOCAL_REGION, type LocalEnvironment, notRunLine } from "./local-environment.ts";
import { reasonNotToRun } from "./reasons.ts";
import { deploymentOrder } from "./references.ts";
import { deployerOf, hasLocalMeaning } from "./resource-types.ts";
import { expandSam } from "./sam/expand-sam.ts";
import { createStackScope, stackKey } from "./stack-scope.ts";
import { constructPathOf, type Template } from "./template.ts";

export interface DeployStackOptions {
  readonly environment: LocalEnvironment;
  readonly parameters: Readonly<Record<string, string>>;
  /** Made part of generated names, so that two runs on one engine do not meet. */
  readonly runId: string;
  /** Put before the construct paths, to tell several stacks apart. */
  readonly pathPrefix: string;
  /** By name; the exports of this stack are added. */
  readonly exports: Map<string, unknown>;
  /** By `stackKey`; the outputs of this stack are added. */
  readonly outputs: Map<string, Readonly<Record<string, unknown>>>;
}

/** The outputs of the stack. */
export async function deployStack(
  stack: SynthesizedStack,
  options: DeployStackOptions,
): Promise<Record<string, unknown>> {
  const { name: stackName } = stack;
  const { environment } = options;
  const { template, notRun } = expandSam(stack.template, stackName);
  environment.notRun.push(...notRun);
  const region = stack.region ?? LOCAL_REGION;
  const deployed = new Map<string, Deployed>();
  const scope = createStackScope({ ...options, template, stackName, region, deployed });
  const resources = wantedResources(template, scope);

  for (const logicalId of deploymentOrder(resources)) {
    const resource = resources[logicalId] as Template["Resources"][string];
    const path = options.pathPrefix + constructPathOf(logicalId, resource, stack.place);
    const { Type: type } = resource;
    const deploy = deployerOf(type);
    const resolved = (properties: Readonly<Record<string, unknown>>) =>
      withLocalAddresses(resolvedProperties(properties, scope, logicalId), environment) as Record<
        string,
        unknown
      >;
    if (!deploy) {
      if (hasLocalMeaning(type)) {
        environment.notRun.push(notRunLine({ type, path, logicalId }, reasonNotToRun(type)));
      }
      deployed.set(logicalId, { ref: logicalId });
      if (type === "AWS::Lambda::Permission") {
        const { FunctionName, Principal } = resource.Properties ?? {};
        const properties = optional(() => resolved({ FunctionName, Principal }));
        if (properties) environment.deployed.push({ type, path, region, properties });
      }
      continue;
    }
    const properties = resolved(resource.Properties ?? {});
    if (isDescribed(type)) environment.deployed.push({ type, path, region, properties });
    for (const reference of dynamicReferencesIn(properties)) {
      const reason = `${reference} is not read here, and stays as it is written`;
      environment.notRun.push(notRunLine({ type, path, logicalId }, reason));
    }
    const generatedName = generatedNameOf(stack, logicalId, options.runId);
    const place = { stackName, region, assets: stack.assets };
    deployed.set(
      logicalId,
      await deploy({ logicalId, type, path, generatedName, properties }, environment, place),
    );
  }
  const outputs = outputsOf(template, scope, options);
  options.outputs.set(stackKey(stackName, region), outputs);
  return outputs;
}

/** Nothing here depends on a permission: one that names what does not run is left out. */
function optional<T>(resolve: () => T): T | undefined {
  try {
    return resolve();
  } catch {
    return undefined;
  }
}

/** @throws Error that names the resource beside the fault */
function resolvedProperties(properties: object, scope: IntrinsicScope, logicalId: string): unknown {
  try {
    return resolveIntrinsics(properties, scope);
  } catch (cause) {
    const { message } = cause as Error;
    if (message.includes(logicalId)) throw cause;
    throw new Error(`${logicalId}: ${message}`, { cause });
  }
}

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html */
function dynamicReferencesIn(properties: object): ReadonlySet<string> {
  const found = JSON.stringify(properties).matchAll(/\{\{resolve:[\w-]+:[^}]*\}\}/g);
  return new Set([...found].map(([reference]) => reference.slice(0, 120)));
}

function wantedResources(template: Template, scope: IntrinsicScope): Template["Resources"] {
  const isWanted = (condition: string | undefined) =>
    condition === undefined || resolveCondition(template.Conditions?.[condition], scope);
  return Object.fromEntries(
    Object.entries(template.Resources).filter(([, resource]) => isWanted(resource.Condition)),
  );
}

function outputsOf(
  template: Template,
  scope: IntrinsicScope,
  { environment, exports }: DeployStackOptions,
): Record<string, unknown> {
  const outputs: Record<string, unknown> = {};
  for (const [name, output] of Object.entries(template.Outputs ?? {})) {
    if (output.Condition !== undefined && !scope.condition(output.Condition)) continue;
    outputs[name] = withLocalAddresses(resolveIntrinsics(output.Value, scope), environment);
    if (output.Export) exports.set(String(resolveIntrinsics(output.Export.Name, scope)), outputs[name]);
  }
  return outputs;
}

/**
 * Not longer than a function's name may be, 64 characters. Ids that differ only where they are cut off, and stacks of one
 * name in two stages, still get names of their own.
 */
function generatedNameOf({ name, place }: SynthesizedStack, logicalId: string, runId: string): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([runId, place, logicalId]))
    .digest("hex");
  return `${`${name}-${logicalId}`.slice(0, 55)}-${hash.slice(0, 8)}`;
}
