// A schedule that runs a function, under ids that do not depend on the path of the stack.
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
  // CDK's own target names the permission by the whole path of the function.
  fn.addPermission("Invoke", {
    scope: rule,
    principal: new ServicePrincipal("events.amazonaws.com"),
    sourceArn: rule.ruleArn,
  });
  rule.addTarget({ bind: () => ({ arn: fn.functionArn, targetResource: fn }) });
  intervals.set(fn, interval);
  return rule;
}

/** How often a schedule of these constructs runs the function. */
export function intervalOf(fn: IConstruct): Duration | undefined {
  return intervals.get(fn);
}

interface Overlap {
  /** Of the function. */
  readonly path: string;
  readonly timeout: Duration;
  readonly interval: Duration;
  /** The property that sets it. */
  readonly intervalName: string;
}

/** Two runs at the same time look for the same work: a timeout within the interval rules that out. */
export function warnOfOverlap(scope: Construct, { path, timeout, interval, intervalName }: Overlap): void {
  const [longest, pause] = [knownSeconds(timeout), knownSeconds(interval)];
  if (longest === undefined || pause === undefined || longest <= pause) return;
  Annotations.of(scope).addWarningV2(
    "onceonly:overlapping-runs",
    overlapping(path, longest, intervalName, pause),
  );
}
