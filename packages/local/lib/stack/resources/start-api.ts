// What HTTP and REST APIs have in common: an id, a port of their own, and a place among the APIs of the stack.
import { createHash } from "node:crypto";
import type { ResolvedResource } from "../deploy-resource.ts";
import { type GatewayOptions, startGateway } from "../gateway/gateway.ts";
import { LOCAL_ACCOUNT_ID, type LocalApi, type LocalEnvironment } from "../local-environment.ts";

/** The same in each run of a stack. */
export function apiIdOf({ generatedName }: ResolvedResource): string {
  return createHash("sha256").update(generatedName).digest("hex").slice(0, 10);
}

export type ApiSettings = Pick<GatewayOptions, "kind" | "region"> &
  Partial<Pick<GatewayOptions, "cors"> & Pick<LocalApi, "resources" | "gatewayResponses">>;

export async function startApi(
  resource: ResolvedResource,
  environment: LocalEnvironment,
  { kind, region, cors, resources = new Map(), gatewayResponses = new Map() }: ApiSettings,
): Promise<LocalApi> {
  const apiId = apiIdOf(resource);
  const server = await startGateway({
    kind,
    apiId,
    accountId: LOCAL_ACCOUNT_ID,
    region,
    cors,
    port: environment.nextPort(),
    now: environment.clock.now,
    log: environment.log,
  });
  environment.onStop(() => server.close());
  const api: LocalApi = {
    logicalId: resource.logicalId,
    path: resource.path,
    server,
    integrations: new Map(),
    authorizers: new Map(),
    resources,
    gatewayResponses,
    stagedProblems: [],
  };
  environment.apis.set(apiId, api);
  return api;
}

export function notRun(resource: ResolvedResource, environment: LocalEnvironment, reason: string): void {
  environment.notRun.push(`${resource.type} ${resource.path} (${resource.logicalId}): ${reason}`);
}
