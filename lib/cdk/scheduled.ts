// A schedule that runs a function, with ids that don't depend on the stack's path.
import { Annotations, type Duration } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { Construct, IConstruct } from "constructs";
import { knownSeconds } from "./checks/consumers.ts";
import { overlapping } from "./rules/relays.ts";
import { sharedRegistry } from "./shared-registry.ts";

const intervals = sharedRegistry<Duration>("intervals");

export function runOnSchedule(scope: Construct, id: string, interval: Duration, fn: IFunction): Rule {
  const rule = new Rule(scope, id, { schedule: Schedule.rate(interval) });
  // CDK's own target puts the function's whole path into the permission's id.
  fn.addPermission("Invoke", {
    scope: rule,
    principal: new ServicePrincipal("events.amazonaws.com"),
    sourceArn: rule.ruleArn,
  });
  rule.addTarget({ bind: () => ({ arn: fn.functionArn, targetResource: fn }) });
  intervals.set(fn, interval);
  return rule;
}

/** How often a schedule made here runs the function. */
export function intervalOf(fn: IConstruct): Duration | undefined {
  return intervals.get(fn);
}

interface Overlap {
  /** The function's path. */
  readonly path: string;
  readonly timeout: Duration;
  readonly interval: Duration;
  /** The property that sets it. */
  readonly intervalName: string;
}

/** Two overlapping runs look for the same work. A timeout below the interval prevents that. */
export function warnOfOverlap(scope: Construct, { path, timeout, interval, intervalName }: Overlap): void {
  const [longest, pause] = [knownSeconds(timeout), knownSeconds(interval)];
  if (longest === undefined || pause === undefined || longest <= pause) return;
  Annotations.of(scope).addWarningV2(
    "onceonly:overlapping-runs",
    overlapping(path, longest, intervalName, pause),
  );
}
