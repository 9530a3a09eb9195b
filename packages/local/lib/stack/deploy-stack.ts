// Deploys one synthesized stack: each resource after those it refers to, by the deployer of its type.
import { createHash } from "node:crypto";
import type { SynthesizedStack } from "./assembly.ts";
import type { Deployed } from "./deploy-resource.ts";
import { isDescribed } from "./described-run.ts";
import { type IntrinsicScope, resolveCondition, resolveIntrinsics } from "./intrinsics.ts";
import { namesNeededBy, withLocalAddresses } from "./local-addresses.ts";
import type { ResolvedResource } from "./local-environment.ts";
import {
  LOCAL_REGION,
  type LocalEnvironment,
  type NamedResource,
  notRunLine,
  type StackPlace,
} from "./local-environment.ts";
import { reasonNotToRun } from "./reasons.ts";
import { deploymentOrder, referencesOf } from "./references.ts";
import { deployerOf, hasLocalMeaning } from "./resource-types.ts";
import { expandSam } from "./sam/expand-sam.ts";
import { createStackScope, stackKey } from "./stack-scope.ts";
import { constructPathOf, type Template, type TemplateOutput, type TemplateResource } from "./template.ts";

export interface DeployStackOptions {
  readonly environment: LocalEnvironment;
  readonly parameters: Readonly<Record<string, string>>;
  /** Becomes part of generated names, so two runs on one engine don't collide. */
  readonly runId: string;
  /** Prefix of the construct paths, to distinguish several stacks. */
  readonly pathPrefix: string;
  /** By name; the exports of this stack are added. */
  readonly exports: Map<string, unknown>;
  /** By `stackKey`; the outputs of this stack are added. */
  readonly outputs: Map<string, Readonly<Record<string, unknown>>>;
}

/** A stack that can be deployed: its template is expanded, and its names are known. */
export interface PlannedStack {
  readonly stack: SynthesizedStack;
  readonly template: Template;
  /** Without those whose condition is false. */
  readonly resources: Template["Resources"];
  readonly scope: IntrinsicScope;
  readonly deployed: Map<string, Deployed>;
  /** The resolved properties of the deployed resources, as JSON, by logical id. */
  readonly resolved: Map<string, string>;
  readonly options: DeployStackOptions;
}

/** @param before the same stack as it runs, which stays deployed */
export function planStack(
  stack: SynthesizedStack,
  options: DeployStackOptions,
  before?: PlannedStack,
): PlannedStack {
  const { template, notRun } = expandSam(stack.template, stack.name);
  if (!before) options.environment.notRun.push(...notRun);
  const { deployed, resolved } = before ?? { deployed: new Map(), resolved: new Map() };
  const { name: stackName, account } = stack;
  const scope = createStackScope({
    ...options,
    template,
    stackName,
    account,
    region: regionOf(stack),
    deployed,
  });
  const resources = wantedResources(template, scope);
  return { stack, template, resources, scope, deployed, resolved, options };
}

const regionOf = ({ region }: SynthesizedStack): string => region ?? LOCAL_REGION;

/**
 * Deploys the stack, except for resources that need a named resource of another stack that isn't deployed yet.
 * @returns a function that deploys the rest, and resolves to the stack's outputs
 */
export async function deployStack(
  planned: PlannedStack,
  isDeployed: (resource: NamedResource) => boolean,
): Promise<() => Promise<Record<string, unknown>>> {
  const { resources, stack, template, options } = planned;
  const { named } = options.environment;
  // Policies name much, and nothing waits for them here.
  const names = new Map(
    Object.entries(resources)
      .filter(([, { Type }]) => deployerOf(Type) !== undefined)
      .map(([id, { Type, Properties = {} }]) => [
        id,
        namesNeededBy(Type, readableProperties(planned, Properties)),
      ]),
  );
  const namedBy = (logicalId: string) =>
    (names.get(logicalId) ?? []).flatMap((name) => {
      const owner = named.get(name);
      return owner?.stack === stack.place && owner.logicalId !== logicalId ? [owner.logicalId] : [];
    });
  const later = new Set<string>();
  const isLater = (name: string) => {
    const owner = named.get(name);
    if (owner?.stack === stack.place) return later.has(owner.logicalId);
    return owner !== undefined && !isDeployed(owner);
  };
  for (const logicalId of deploymentOrder(resources, namedBy)) {
    const needsLater = [...referencesOf(resources[logicalId] as TemplateResource)].some((id) =>
      later.has(id),
    );
    if (needsLater || names.get(logicalId)?.some(isLater)) later.add(logicalId);
    else await deployOne(planned, logicalId);
  }
  const outputs: Record<string, unknown> = {};
  const isOfLater = ({ Value }: { Value: unknown }) =>
    [...referencesOf({ Type: "", Properties: { Value } })].some((id) => later.has(id));
  const addOutputs = (are: boolean) => {
    const entries = Object.entries(template.Outputs ?? {}).filter(([, output]) => isOfLater(output) === are);
    for (const [name, output] of entries) addOutput(planned, name, output, outputs);
    options.outputs.set(stackKey(stack.name, regionOf(stack)), outputs);
  };
  addOutputs(false);
  return async () => {
    for (const logicalId of later) await deployOne(planned, logicalId);
    addOutputs(true);
    return outputs;
  };
}

export async function deployOne(planned: PlannedStack, logicalId: string): Promise<void> {
  const { stack, deployed, options } = planned;
  const { environment } = options;
  const region = regionOf(stack);
  const resource = planned.resources[logicalId] as TemplateResource;
  const path = pathIn(planned, logicalId);
  const { Type: type } = resource;
  const deploy = deployerOf(type);
  if (!deploy) {
    if (hasLocalMeaning(type)) {
      environment.notRun.push(notRunLine({ type, path, logicalId }, reasonNotToRun(type)));
    }
    deployed.set(logicalId, { ref: logicalId });
    if (type === "AWS::Lambda::Permission") {
      const { FunctionName, Principal } = resource.Properties ?? {};
      const properties = optional(() => resolvedProperties(planned, logicalId, { FunctionName, Principal }));
      if (properties) environment.deployed.push({ type, path, region, properties });
    }
    return;
  }
  const properties = resolvedProperties(planned, logicalId, resource.Properties ?? {});
  if (isDescribed(type)) environment.deployed.push({ type, path, region, properties });
  for (const reference of dynamicReferencesIn(properties)) {
    const reason = `${reference} can't be resolved locally and stays as it is`;
    environment.notRun.push(notRunLine({ type, path, logicalId }, reason));
  }
  planned.resolved.set(logicalId, JSON.stringify(properties));
  deployed.set(
    logicalId,
    await deploy(resolvedResource(planned, logicalId, properties), environment, placeOf(stack)),
  );
}

export function pathIn({ resources, stack, options }: PlannedStack, logicalId: string): string {
  return (
    options.pathPrefix + constructPathOf(logicalId, resources[logicalId] as TemplateResource, stack.place)
  );
}

export function placeOf(stack: SynthesizedStack): StackPlace {
  return { stackName: stack.name, region: regionOf(stack), assets: stack.assets };
}

export function resolvedResource(
  planned: PlannedStack,
  logicalId: string,
  properties: Record<string, unknown>,
): ResolvedResource {
  const { resources, stack, options } = planned;
  return {
    logicalId,
    type: String(resources[logicalId]?.Type),
    path: pathIn(planned, logicalId),
    generatedName: generatedNameOf(stack, logicalId, options.runId),
    properties,
  };
}

/** The properties as far as they are known before anything is deployed: names are literal, or come from parameters. */
export function readableProperties(
  { scope, options }: PlannedStack,
  properties: object,
): Record<string, unknown> {
  const unknown = () => "";
  const known = (ask: () => unknown) => {
    try {
      return ask();
    } catch {
      return "";
    }
  };
  const readable: IntrinsicScope = {
    ...scope,
    ref: (name) => known(() => scope.ref(name)),
    attribute: unknown,
    importValue: unknown,
    stackOutput: unknown,
  };
  const read = (value: unknown) => known(() => resolveIntrinsics(value, readable));
  const entries = Object.entries(properties).map(([name, value]) => [name, read(value)]);
  return withLocalAddresses(Object.fromEntries(entries), options.environment) as Record<string, unknown>;
}

/** Nothing here depends on a permission, so a permission for a resource that doesn't run is left out. */
function optional<T>(resolve: () => T): T | undefined {
  try {
    return resolve();
  } catch {
    return undefined;
  }
}

/** @throws Error that names the resource and the fault */
export function resolvedProperties(
  { scope, options }: PlannedStack,
  logicalId: string,
  properties: object,
): Record<string, unknown> {
  try {
    const resolved = resolveIntrinsics(properties, scope);
    return withLocalAddresses(resolved, options.environment) as Record<string, unknown>;
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

function addOutput(
  { scope, options }: PlannedStack,
  name: string,
  output: TemplateOutput,
  outputs: Record<string, unknown>,
): void {
  if (output.Condition !== undefined && !scope.condition(output.Condition)) return;
  outputs[name] = withLocalAddresses(resolveIntrinsics(output.Value, scope), options.environment);
  if (output.Export) options.exports.set(String(resolveIntrinsics(output.Export.Name, scope)), outputs[name]);
}

/**
 * At most 64 characters, the limit for a function's name. Ids that differ only after the cut, and stacks with the same
 * name in two stages, still get different names.
 */
function generatedNameOf({ name, place }: SynthesizedStack, logicalId: string, runId: string): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([runId, place, logicalId]))
    .digest("hex");
  return `${`${name}-${logicalId}`.slice(0, 55)}-${hash.slice(0, 8)}`;
}
