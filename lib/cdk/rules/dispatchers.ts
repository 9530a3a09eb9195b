// Rules for functions with `startOnce`, which start durable executions by names that are made of keys.
import { type App, ownerPath, type Report, type Resource } from "./app.ts";
import { findCallers } from "./callers.ts";
import { findDeliveries } from "./deliveries.ts";
import { durableConfigOf } from "./durable.ts";
import { readersInto } from "./event-sources.ts";
import { findGateways, findReader, findRuntime, redeliveries, timeoutIn } from "./functions.ts";
import { findNoWay } from "./networks.ts";
import type { KnownRedelivery } from "./redelivery.ts";

/** https://docs.aws.amazon.com/lambda/latest/api/API_DurableConfig.html */
const MAX_REMEMBERED_DAYS = 90;

const DAY_SECONDS = 86_400;

export interface Dispatcher {
  readonly fn: Resource;
  /** The durable function, if this app defines it. */
  readonly target: Resource | undefined;
  /** In seconds; undefined if it's only known at deployment. */
  readonly clientWindow: number | undefined;
}

export function findInDispatcher(app: App, dispatcher: Dispatcher, report: Report): void {
  const { fn, target } = dispatcher;
  const timeout = timeoutIn(app, fn);
  findRuntime(app, fn, report);
  findCallers(app, fn, report);
  findNoWay(app, fn, report, [{ service: "lambda", actions: ["lambda:InvokeFunction"], resource: target }]);
  findDeliveries(app, fn, timeout, report);
  for (const reader of readersInto(app, fn)) findReader(app, fn, reader, timeout, report);
  findGateways(app, fn, timeout, report);
  findForgottenNames(app, dispatcher, report);
}

/** A later delivery must find the execution by its name, or it starts another one. */
function findForgottenNames(app: App, { fn, target, clientWindow }: Dispatcher, report: Report): void {
  const [path, of] = [ownerPath(fn), target ? ownerPath(target) : "its durable function"];
  const durable = target && durableConfigOf(app, target);
  if (target && !durable) {
    report(
      "refused",
      "not-durable",
      fn,
      `${path} starts executions of ${of}, which isn't a durable function: set its durableConfig`,
    );
    return;
  }
  for (const redelivery of redeliveries(app, fn, clientWindow)) {
    const why = "unknown" in redelivery ? redelivery.unknown : whyUnknown(durable?.rememberedSeconds);
    if (why !== undefined) {
      report(
        "noted",
        "execution-names-unknown",
        fn,
        `can't check whether Lambda remembers the executions of ${of} for as long as events are redelivered to ${path}: ${why}`,
      );
    } else
      findForgotten(durable?.rememberedSeconds as number, redelivery as KnownRedelivery, { fn, of }, report);
  }
}

function whyUnknown(rememberedSeconds: number | undefined): string | undefined {
  if (rememberedSeconds === undefined) return "this app doesn't define it";
  return Number.isNaN(rememberedSeconds) ? "its retention period is only known at deployment" : undefined;
}

function findForgotten(
  remembered: number,
  { seconds, setSeconds, sum }: KnownRedelivery,
  { fn, of }: { readonly fn: Resource; readonly of: string },
  report: Report,
): void {
  if (remembered >= seconds) return;
  const days = Math.ceil(seconds / DAY_SECONDS);
  const canCover = days <= MAX_REMEMBERED_DAYS;
  // An AWS maximum that the template doesn't set is only warned of.
  const isRefused = canCover && remembered < setSeconds;
  report(
    isRefused ? "refused" : "warned",
    "execution-names",
    fn,
    `retention period ${remembered} s of ${of} < ${seconds} s, the longest redelivery to ${ownerPath(fn)} (${sum}): a later delivery would start a second execution. ${
      canCover
        ? `Set the retentionPeriod of its durableConfig to at least Duration.days(${days})`
        : `Lambda remembers executions for at most ${MAX_REMEMBERED_DAYS} days, so wrap the durable handler in idempotentDurable, with a retention of at least ${days} days`
    }`,
  );
}
