// Event source mappings: queues and streams that feed a function.
import { randomUUID } from "node:crypto";
import type { Deployed, DeployResource } from "../deploy-resource.ts";
import type { ResolvedResource } from "../local-environment.ts";
import {
  functionNamed,
  LOCAL_ACCOUNT_ID,
  LOCAL_PARTITION,
  type LocalEnvironment,
  notRunLine,
  type StackPlace,
} from "../local-environment.ts";
import type { MappedSource, MappingTarget } from "./mapped-source.ts";
import { sqsSourceOf } from "./sqs-mapping.ts";
import { streamSourceOf } from "./stream-mapping.ts";

async function deployEventSourceMapping(
  resource: ResolvedResource,
  environment: LocalEnvironment,
  { region }: StackPlace,
): Promise<Deployed> {
  const { logicalId, path, properties } = resource;
  const id = randomUUID();
  const arn = `arn:${LOCAL_PARTITION}:lambda:${region}:${LOCAL_ACCOUNT_ID}:event-source-mapping:${id}`;
  const deployed = { ref: id, attributes: { Id: id, EventSourceMappingArn: arn } };
  const sourceArn = String(properties.EventSourceArn);
  const target = functionNamed(environment, String(properties.FunctionName));
  if (!target) {
    environment.notRun.push(notRunLine(resource, `${properties.FunctionName} isn't a function of this run`));
    return deployed;
  }

  const source = await sourceOf(resource, environment, { target, region });
  if ("problem" in source) {
    environment.notRun.push(notRunLine(resource, source.problem));
    return deployed;
  }
  environment.onStop(async () => source.disable());
  const identity = { logicalId, sourceArn, functionName: target.name };
  environment.eventSources.set(path, Object.assign(source, identity));
  return deployed;
}

async function sourceOf(
  resource: ResolvedResource,
  environment: LocalEnvironment,
  target: MappingTarget,
): Promise<MappedSource> {
  const { EventSourceArn, SelfManagedEventSource } = resource.properties;
  const service = SelfManagedEventSource ? "kafka" : String(EventSourceArn).split(":")[2];
  if (service === "sqs") return sqsSourceOf(resource, environment, target);
  if (service === "dynamodb") return streamSourceOf(resource, environment, target);
  return { problem: `event sources of ${service} don't run, only queues and DynamoDB streams do` };
}

export const EVENT_SOURCE_TYPES: Readonly<Record<string, DeployResource>> = {
  "AWS::Lambda::EventSourceMapping": deployEventSourceMapping,
};
