// What it takes to deploy one resource locally: the shape that each resource family implements. Types only.
import type { LocalEnvironment, ResolvedResource, StackPlace } from "./local-environment.ts";

/** What other resources see of a deployed one. */
export interface Deployed {
  readonly ref: string;
  readonly attributes?: Readonly<Record<string, unknown>>;
}

export type DeployResource = (
  resource: ResolvedResource,
  environment: LocalEnvironment,
  place: StackPlace,
) => Promise<Deployed>;
