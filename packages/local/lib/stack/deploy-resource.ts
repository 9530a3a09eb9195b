// What it takes to deploy one resource locally: the shape that each resource family implements. Types only.
import type { LocalEnvironment, StackPlace } from "./local-environment.ts";

/** A resource of a template whose properties are resolved. */
export interface ResolvedResource {
  readonly logicalId: string;
  readonly type: string;
  /** For people and as the key of what runs: `Orders`. */
  readonly path: string;
  /** A name of the kind that CloudFormation generates. */
  readonly generatedName: string;
  readonly properties: Readonly<Record<string, unknown>>;
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
