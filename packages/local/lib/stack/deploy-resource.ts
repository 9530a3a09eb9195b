// What it takes to deploy one resource locally: the shape that each resource family implements. Types only.
import type { DeployedResource, LocalEnvironment, StackPlace } from "./local-environment.ts";

/** A resource of a template whose properties are resolved. */
export interface ResolvedResource extends Omit<DeployedResource, "region"> {
  readonly logicalId: string;
  /** A name of the kind that CloudFormation generates. */
  readonly generatedName: string;
}

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
