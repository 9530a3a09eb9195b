// How one resource is deployed locally: the shape that each resource family implements. Types only.
import type { LocalEnvironment, ResolvedResource, StackPlace } from "./local-environment.ts";

/** The part of a deployed resource that others see. */
export interface Deployed {
  readonly ref: string;
  readonly attributes?: Readonly<Record<string, unknown>>;
}

export type DeployResource = (
  resource: ResolvedResource,
  environment: LocalEnvironment,
  place: StackPlace,
) => Promise<Deployed>;
