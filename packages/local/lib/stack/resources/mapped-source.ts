// Shared by both kinds of event source mappings: which function they feed, and the source that results.
import type { EventSourceContext, SourceSwitch } from "../../event-sources/event-source.ts";
import type { LocalEnvironment, LocalFunction } from "../local-environment.ts";
import { pathOf } from "../local-environment.ts";

export interface MappingTarget {
  readonly target: LocalFunction;
  readonly region: string;
}

/** The source, or why it is not run. */
export type MappedSource = SourceSwitch | { readonly problem: string };

export function contextOf(
  sourcePath: string,
  { target, region }: MappingTarget,
  environment: LocalEnvironment,
): EventSourceContext {
  return {
    clock: environment.clock,
    log: environment.log,
    label: `${sourcePath} → ${pathOf(environment.functions, target)}`,
    region,
    invoke: (payload) => target.host.invoke(payload),
  };
}

export function isEnabled({ Enabled = true }: Readonly<Record<string, unknown>>): boolean {
  return String(Enabled) === "true";
}

export function reportsItemFailures({ FunctionResponseTypes }: Readonly<Record<string, unknown>>): boolean {
  return [FunctionResponseTypes ?? []].flat().includes("ReportBatchItemFailures");
}
