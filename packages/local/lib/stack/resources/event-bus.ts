// Event buses, in the local EventBridge.
import type { Deployed, DeployResource } from "../deploy-resource.ts";
import type { LocalEnvironment, ResolvedResource } from "../local-environment.ts";

async function deployBus(resource: ResolvedResource, environment: LocalEnvironment): Promise<Deployed> {
  const { eventBridge } = environment;
  const name = String(resource.properties.Name ?? resource.generatedName);
  const creation = eventBridge.call("CreateEventBus", { Name: name });
  const { EventBusArn } = await creation.catch((error: Error) => {
    const message = `event bus ${resource.path} (${resource.logicalId}) was rejected: ${error.message}`;
    throw new Error(message, { cause: error });
  });
  environment.buses.set(resource.path, { logicalId: resource.logicalId, arn: EventBusArn });
  return { ref: name, attributes: { Arn: EventBusArn, Name: name } };
}

export const EVENT_BUS_TYPES: Readonly<Record<string, DeployResource>> = {
  "AWS::Events::EventBus": deployBus,
};
