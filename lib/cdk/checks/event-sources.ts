// The event sources of a function: queues and streams of tables behind its event source mappings, however
// they were made.
import { CfnResource, Stack } from "aws-cdk-lib";
import { CfnGlobalTable, CfnTable } from "aws-cdk-lib/aws-dynamodb";
import { CfnEventSourceMapping } from "aws-cdk-lib/aws-lambda";
import { CfnQueue } from "aws-cdk-lib/aws-sqs";
import type { IConstruct } from "constructs";
import { isPartOf, referencedBy } from "./references.ts";
import { resourcesOfType } from "./resources.ts";

/** A queue that a function consumes. */
export interface ConsumedQueue {
  readonly path: string;
  /** Absent for a queue outside of this app. */
  readonly queue?: CfnQueue;
}

/** The queues that are event sources of a function, of its versions or of its aliases. */
export function queuesOf(fn: IConstruct): ConsumedQueue[] {
  return mappingsOf(fn).flatMap((mapping): ConsumedQueue[] => {
    const queue = sourceOf(mapping, CfnQueue);
    if (queue) return [{ path: ownerPath(queue), queue }];
    return readsQueue(mapping) ? [{ path: ownerPath(mapping) }] : [];
  });
}

/** The tables without a stream whose streams a function reads. */
export function tablesWithoutStream(fn: IConstruct): string[] {
  return mappingsOf(fn).flatMap((mapping) => {
    const global = sourceOf(mapping, CfnGlobalTable);
    const table = global ?? sourceOf(mapping, CfnTable);
    if (!table) return [];
    // It may be a lazy value that resolves to nothing.
    const stream = Stack.of(table).resolve(table.streamSpecification);
    return stream === undefined ? [ownerPath(table)] : [];
  });
}

/** The ids that a construct gives what it makes for itself. */
const INNER_IDS = new Set(["Resource", "Default"]);

/** The path that a user knows: the path of the construct around the resource. */
export function ownerPath(resource: IConstruct): string {
  const { scope, id, path } = resource.node;
  return scope && INNER_IDS.has(id) ? ownerPath(scope) : path;
}

interface ResourceType<T extends CfnResource> {
  readonly CFN_RESOURCE_TYPE_NAME: string;
  new (...args: never[]): T;
}

/** The resource of this type that a value refers to. */
export function referencedResource<T extends CfnResource>(
  value: unknown,
  scope: IConstruct,
  type: ResourceType<T>,
): T | undefined {
  return referencedBy(value, scope).find((each) => isResource(each, type));
}

/** Whether Lambda takes an answer that names single records: of queues, Kinesis and the streams of tables. */
export function readsPartly(mapping: CfnEventSourceMapping): boolean {
  const { topics, queues, amazonManagedKafkaEventSourceConfig, documentDbEventSourceConfig } = mapping;
  const others = [topics, queues, amazonManagedKafkaEventSourceConfig, documentDbEventSourceConfig];
  return others.every((each) => each === undefined);
}

export function mappingsOf(fn: IConstruct): CfnEventSourceMapping[] {
  return resourcesOfType(fn, CfnEventSourceMapping.CFN_RESOURCE_TYPE_NAME)
    .filter((each) => isResource(each, CfnEventSourceMapping))
    .filter((mapping) => referencedBy(mapping.functionName, mapping).some((each) => isPartOf(each, fn)));
}

export function sourceOf<T extends CfnResource>(mapping: CfnEventSourceMapping, type: ResourceType<T>) {
  return referencedResource(mapping.eventSourceArn, mapping, type);
}

/**
 * An imported source has nothing but an ARN, and often not even that. But streams and Kafka are read from a
 * position, and brokers have queues of their own.
 */
function readsQueue({ startingPosition, queues }: CfnEventSourceMapping): boolean {
  return startingPosition === undefined && queues === undefined;
}

/** Not instanceof: an app may hold two copies of aws-cdk-lib. */
function isResource<T extends CfnResource>(construct: IConstruct, type: ResourceType<T>): construct is T {
  return CfnResource.isCfnResource(construct) && construct.cfnResourceType === type.CFN_RESOURCE_TYPE_NAME;
}
