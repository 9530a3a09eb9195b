// Schedules: EventBridge rules with a schedule expression, and schedules of EventBridge Scheduler.
import { type LocalSchedule, runSchedule } from "../../schedules/run-schedule.ts";
import { nextTimeOf } from "../../schedules/schedule-expression.ts";
import type { Deployed, DeployResource } from "../deploy-resource.ts";
import type { ResolvedResource } from "../local-environment.ts";
import {
  LOCAL_ACCOUNT_ID,
  LOCAL_PARTITION,
  type LocalEnvironment,
  notRunLine,
  type StackPlace,
} from "../local-environment.ts";
import { deployPattern } from "./event-pattern.ts";
import { type LocalTarget, type TargetProperties, targetOf } from "./local-target.ts";
import { ruleInput, schedulerInput } from "./scheduled-event.ts";

interface Due {
  readonly expression: string;
  readonly timeZone?: string;
  readonly startMs?: number;
  readonly endMs?: number;
  readonly enabled: boolean;
  readonly targets: readonly TargetProperties[];
  readonly inputOf: (target: TargetProperties, atMs: number) => string;
}

async function deployRule(
  resource: ResolvedResource,
  environment: LocalEnvironment,
  { region }: StackPlace,
): Promise<Deployed> {
  const {
    Name = resource.generatedName,
    ScheduleExpression,
    EventPattern,
    State,
    Targets,
  } = resource.properties;
  const name = String(Name);
  const arn = `arn:${LOCAL_PARTITION}:events:${region}:${LOCAL_ACCOUNT_ID}:rule/${name}`;
  const matching = EventPattern === undefined ? undefined : await deployPattern(resource, environment, name);
  const deployed = matching ?? { ref: name, attributes: { Arn: arn } };
  if (ScheduleExpression === undefined) return deployed;
  deploySchedule(resource, environment, {
    expression: String(ScheduleExpression),
    enabled: State !== "DISABLED",
    targets: [Targets ?? []].flat() as TargetProperties[],
    inputOf: (target, atMs) => ruleInput(target, { arn, region, atMs }),
  });
  return deployed;
}

async function deploySchedulerSchedule(
  resource: ResolvedResource,
  environment: LocalEnvironment,
  { region }: StackPlace,
): Promise<Deployed> {
  const { properties } = resource;
  const name = String(properties.Name ?? resource.generatedName);
  const group = String(properties.GroupName ?? "default");
  const arn = `arn:${LOCAL_PARTITION}:scheduler:${region}:${LOCAL_ACCOUNT_ID}:schedule/${group}/${name}`;
  deploySchedule(resource, environment, {
    expression: String(properties.ScheduleExpression),
    timeZone: String(properties.ScheduleExpressionTimezone ?? "UTC"),
    ...(properties.StartDate !== undefined && { startMs: Date.parse(String(properties.StartDate)) }),
    ...(properties.EndDate !== undefined && { endMs: Date.parse(String(properties.EndDate)) }),
    enabled: properties.State !== "DISABLED",
    targets: [properties.Target as TargetProperties],
    inputOf: (target, atMs) => schedulerInput(target, { arn, region, atMs }),
  });
  return { ref: name, attributes: { Arn: arn } };
}

function deploySchedule(resource: ResolvedResource, environment: LocalEnvironment, due: Due): void {
  const { logicalId, path } = resource;
  const { clock, signal } = environment;
  const startMs = due.startMs ?? clock.now();
  const next = nextTimeOf(due.expression, startMs, due.timeZone);
  const targets: [TargetProperties, LocalTarget][] = [];
  for (const properties of due.targets) {
    if ((properties.InputPath ?? properties.InputTransformer) !== undefined) {
      const reason = `the input of ${properties.Arn} is derived from the event, which isn't supported for schedules`;
      environment.notRun.push(notRunLine(resource, reason));
      continue;
    }
    const target = targetOf(properties, { environment, path });
    if ("problem" in target) environment.notRun.push(notRunLine(resource, target.problem));
    else targets.push([properties, target]);
  }

  async function fire(atMs: number): Promise<void> {
    await Promise.all(targets.map(([properties, target]) => target.deliver(due.inputOf(properties, atMs))));
  }
  const schedule: LocalSchedule = { logicalId, expression: due.expression, fire: () => fire(clock.now()) };
  environment.schedules.set(path, schedule);
  if (!due.enabled) return;
  void runSchedule({
    clock,
    signal,
    fire,
    next: (afterMs) => {
      const atMs = next(Math.max(afterMs, startMs - 1));
      return atMs !== undefined && atMs <= (due.endMs ?? Number.POSITIVE_INFINITY) ? atMs : undefined;
    },
  });
}

/** It holds the schedules of functions, and those find it by its ARN. */
async function deployGroup(
  { properties: { Name }, generatedName }: ResolvedResource,
  _: LocalEnvironment,
  { region }: StackPlace,
): Promise<Deployed> {
  const name = String(Name ?? generatedName);
  const arn = `arn:${LOCAL_PARTITION}:scheduler:${region}:${LOCAL_ACCOUNT_ID}:schedule-group/${name}`;
  return { ref: name, attributes: { Arn: arn } };
}

export const SCHEDULE_TYPES: Readonly<Record<string, DeployResource>> = {
  "AWS::Events::Rule": deployRule,
  "AWS::Scheduler::Schedule": deploySchedulerSchedule,
  "AWS::Scheduler::ScheduleGroup": deployGroup,
};
