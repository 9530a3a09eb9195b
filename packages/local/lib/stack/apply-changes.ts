// A changed app, applied to its run: functions get their new code and settings. Any other change is named, because it needs
// a restart.
import type { SynthesizedStack } from "./assembly.ts";
import {
  deployOne,
  type PlannedStack,
  pathIn,
  placeOf,
  planStack,
  resolvedProperties,
  resolvedResource,
} from "./deploy-stack.ts";
import { deployerOf } from "./resource-types.ts";

export interface AppliedChanges {
  /** The stacks as they run now. */
  readonly planned: readonly PlannedStack[];
  /** The construct paths of functions that run something new. */
  readonly functions: readonly string[];
  /** The changes that need a restart, one per line. */
  readonly needRestart: readonly string[];
}

/** Their logical ids change with the code, and nothing here depends on which of them is the last. */
const OF_ONE_DEPLOYMENT: ReadonlySet<string> = new Set([
  "AWS::ApiGateway::Deployment",
  "AWS::Lambda::Version",
]);

const isCompared = (type: string | undefined): boolean =>
  type !== undefined && deployerOf(type) !== undefined && !OF_ONE_DEPLOYMENT.has(type);

export async function applyChanges(
  running: readonly PlannedStack[],
  stacks: readonly SynthesizedStack[],
): Promise<AppliedChanges> {
  const functions: string[] = [];
  const needRestart: string[] = [];
  const planned: PlannedStack[] = [];
  for (const before of running) {
    const stack = stacks.find(({ place }) => place === before.stack.place);
    if (!stack) needRestart.push(`the stack ${before.stack.place} was removed`);
    const now = stack && planStack(stack, before.options, before);
    planned.push(now ?? before);
    if (!now) continue;
    for (const [logicalId, { Type }] of Object.entries(before.resources)) {
      if (now.resources[logicalId]?.Type !== Type && isCompared(Type)) {
        needRestart.push(`${Type} ${pathIn(before, logicalId)} was removed`);
      }
    }
    // New versions come first: aliases refer to them.
    const isLast = (logicalId: string) => Number(isCompared(now.resources[logicalId]?.Type));
    for (const logicalId of Object.keys(now.resources).sort((a, b) => isLast(a) - isLast(b))) {
      const change = await applyTo(now, before, logicalId);
      if (change === "function") functions.push(pathIn(now, logicalId));
      else if (change)
        needRestart.push(`${now.resources[logicalId]?.Type} ${pathIn(now, logicalId)} ${change}`);
    }
  }
  const known = new Set(running.map(({ stack }) => stack.place));
  for (const { place } of stacks) if (!known.has(place)) needRestart.push(`the stack ${place} is new`);
  return { planned, functions, needRestart };
}

/** The changes; `undefined` if there are none. */
async function applyTo(
  now: PlannedStack,
  before: PlannedStack,
  logicalId: string,
): Promise<"function" | string | undefined> {
  const { Type = "", Properties = {} } = now.resources[logicalId] ?? {};
  const isOther = logicalId in before.resources && before.resources[logicalId]?.Type !== Type;
  if (isOther || !now.deployed.has(logicalId)) {
    if (isCompared(Type)) return "is new";
    await deployOne(now, logicalId);
    return undefined;
  }
  if (!isCompared(Type)) return undefined;
  const { functions } = now.options.environment;
  let properties: Record<string, unknown>;
  try {
    properties = resolvedProperties(now, logicalId, Properties);
  } catch (error) {
    return `changed: ${(error as Error).message}`;
  }
  const fn = Type === "AWS::Lambda::Function" ? functions.get(pathIn(now, logicalId)) : undefined;
  if (!fn) return JSON.stringify(properties) === now.resolved.get(logicalId) ? undefined : "changed";
  const applied = await fn.redeploy(resolvedResource(now, logicalId, properties), placeOf(now.stack));
  if (typeof applied === "object") return `changed: ${applied.problem}`;
  if (!applied) return undefined;
  now.resolved.set(logicalId, JSON.stringify(properties));
  describe(now, logicalId, properties);
  return "function";
}

/** For the doctor, which inspects the running resources. */
function describe(now: PlannedStack, logicalId: string, properties: Record<string, unknown>): void {
  const { deployed } = now.options.environment;
  const path = pathIn(now, logicalId);
  const at = deployed.findIndex((each) => each.type === "AWS::Lambda::Function" && each.path === path);
  const described = deployed[at];
  if (described) deployed[at] = { ...described, properties };
}
