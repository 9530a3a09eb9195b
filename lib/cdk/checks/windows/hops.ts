// All ways on which something can come to a function again, from one source to the next.
import { CfnResource } from "aws-cdk-lib";
import type { IConstruct } from "constructs";
import { asynchronousHops, asynchronousWindow } from "./asynchronous.ts";
import { archiveHops, ruleHops } from "./event-bridge.ts";
import { type Hop, type RedeliveryWindow, sumOf } from "./hop.ts";
import { mappingHops } from "./mappings.ts";
import { pipeHops } from "./pipes.ts";
import { ResolvedApp } from "./resolved-app.ts";
import { notificationHops } from "./s3.ts";
import { scheduleHops } from "./scheduler.ts";
import { subscriptionHops } from "./sns.ts";
import { taskHops } from "./step-functions.ts";

const READERS = [
  mappingHops,
  pipeHops,
  ruleHops,
  archiveHops,
  scheduleHops,
  subscriptionHops,
  notificationHops,
  taskHops,
  asynchronousHops,
];

/** Services that invoke functions asynchronously. */
const SERVICES = /^(events|sns|s3|ses|iot|logs)\.amazonaws\.com$/;

/** Who may invoke a function and is not in this app. */
function foreignHops(app: ResolvedApp, hops: ReadonlyMap<IConstruct, Hop[]>): Hop[] {
  return app.ofType("AWS::Lambda::Permission").flatMap((permission) => {
    const { Principal, FunctionName } = app.propertiesOf(permission);
    if (!SERVICES.test(String(Principal))) return [];
    return app
      .targetsIn(FunctionName)
      .filter((into) => !hops.get(into)?.some(({ isAsynchronous }) => isAsynchronous))
      .map(
        (into): Hop => ({
          into,
          window: { unknown: `${String(Principal)} may invoke it, and its source is not made in this app` },
        }),
      );
  });
}

const known = new WeakMap<ResolvedApp, Map<IConstruct, Hop[]>>();

/** The windows of all event sources of a function, each with the windows of what is before it. */
export function waysTo(fn: IConstruct): RedeliveryWindow[] {
  const app = ResolvedApp.of(fn);
  const { defaultChild } = fn.node;
  return defaultChild ? waysInto(defaultChild, hopsOf(app), app, new Set()) : [];
}

export function isInvokedAsynchronously(fn: CfnResource): boolean {
  const hops = hopsOf(ResolvedApp.of(fn)).get(fn) ?? [];
  return hops.some(({ isAsynchronous }) => isAsynchronous);
}

function hopsOf(app: ResolvedApp): Map<IConstruct, Hop[]> {
  const hops = known.get(app) ?? hopsByTarget(app);
  known.set(app, hops);
  return hops;
}

function hopsByTarget(app: ResolvedApp): Map<IConstruct, Hop[]> {
  const hops = new Map<IConstruct, Hop[]>();
  for (const hop of READERS.flatMap((read) => read(app))) {
    hops.set(hop.into, [...(hops.get(hop.into) ?? []), hop]);
  }
  for (const hop of foreignHops(app, hops)) hops.set(hop.into, [...(hops.get(hop.into) ?? []), hop]);
  return hops;
}

/** A ring of sources is walked through once. */
function waysInto(
  target: IConstruct,
  hops: ReadonlyMap<IConstruct, Hop[]>,
  app: ResolvedApp,
  before: ReadonlySet<IConstruct>,
): RedeliveryWindow[] {
  const passed = new Set([...before, target]);
  return (hops.get(target) ?? []).flatMap(({ from, window, isAsynchronous = false }) => {
    const own =
      isAsynchronous && isFunction(target) ? sumOf(window, asynchronousWindow(app, target)) : window;
    const earlier = from && !passed.has(from) ? waysInto(from, hops, app, passed) : [];
    return earlier.length === 0 ? [own] : earlier.map((way) => sumOf(way, own));
  });
}

function isFunction(construct: IConstruct): construct is CfnResource {
  return CfnResource.isCfnResource(construct) && construct.cfnResourceType === "AWS::Lambda::Function";
}
