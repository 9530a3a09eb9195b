// Rules with an event pattern: an event on their bus that matches goes to their targets.
import type { RuleTarget } from "onceonly-explorer/aws";
import type { Deployed } from "../deploy-resource.ts";
import type { ResolvedResource } from "../local-environment.ts";
import { type LocalEnvironment, notRunLine } from "../local-environment.ts";
import { targetOf } from "./local-target.ts";

/** @param name of the rule */
export async function deployPattern(
  resource: ResolvedResource,
  environment: LocalEnvironment,
  name: string,
): Promise<Deployed> {
  const { EventBusName, EventPattern, State, Targets } = resource.properties;
  const { eventBridge, notRun, rulePaths } = environment;
  const bus = EventBusName === undefined ? undefined : String(EventBusName);
  const leaveOut = (reason: string) => void notRun.push(notRunLine(resource, reason));
  const ofRule = { Name: name, EventBusName: bus };
  const isOfDefaultBus = bus === undefined || /(^|\/)default$/.test(bus);
  const ref = isOfDefaultBus ? name : `${bus.replace(/^.*\//, "")}|${name}`;
  if (State === "DISABLED") {
    leaveOut("it is disabled");
    return { ref };
  }
  const text = typeof EventPattern === "string" ? EventPattern : JSON.stringify(EventPattern);
  const rule = await eventBridge.call("PutRule", { ...ofRule, EventPattern: text }).catch(problemOf);
  if (rule instanceof Error) {
    leaveOut(rule.message);
    return { ref };
  }
  rulePaths.set(rule.RuleArn, resource.path);
  if (isOfAws(text)) leaveOut("AWS services don't send events locally");
  for (const target of [Targets ?? []].flat() as RuleTarget[]) {
    const isBus = String(target.Arn).split(":")[2] === "events";
    const local = isBus
      ? await busProblem(environment, target.Arn)
      : targetOf(target as object, { environment, path: resource.path });
    const problem = local && "problem" in local ? local.problem : await putTarget(target);
    if (problem !== undefined) leaveOut(problem);
  }
  return { ref, attributes: { Arn: rule.RuleArn } };

  async function putTarget(target: RuleTarget): Promise<string | undefined> {
    const input = { Rule: name, EventBusName: bus, Targets: [target] };
    const refused = await eventBridge.call("PutTargets", input).catch(problemOf);
    return refused instanceof Error ? refused.message : undefined;
  }
}

async function busProblem(
  { eventBridge }: LocalEnvironment,
  arn: string,
): Promise<{ readonly problem: string } | undefined> {
  const found = await eventBridge.call("DescribeEventBus", { Name: arn }).catch(problemOf);
  return found instanceof Error ? { problem: `its target ${arn} isn't a bus of this run` } : undefined;
}

function problemOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** Whether all the sources that it asks for are services of AWS. */
function isOfAws(pattern: string): boolean {
  const { source } = JSON.parse(pattern);
  return Array.isArray(source) && source.length > 0 && source.every((each) => /^aws\./.test(String(each)));
}
