// An event source mapping whose source is a table's stream: the meaning of its properties.

import { eventFilter, type GivenUpBatch } from "onceonly-explorer/aws";
import { failureMessage } from "../../event-sources/failure-message.ts";
import { startStreamSource } from "../../event-sources/stream-source.ts";
import type { ResolvedResource } from "../local-environment.ts";
import { type LocalEnvironment, notRunLine, pathOf, queueOfArn } from "../local-environment.ts";
import {
  contextOf,
  isEnabled,
  type MappedSource,
  type MappingTarget,
  reportsItemFailures,
} from "./mapped-source.ts";

const DEFAULT_BATCH_SIZE = 100;

export async function streamSourceOf(
  resource: ResolvedResource,
  environment: LocalEnvironment,
  target: MappingTarget,
): Promise<MappedSource> {
  const { properties } = resource;
  const streamArn = String(properties.EventSourceArn);
  const table = [...environment.tables.values()].find((candidate) => candidate.streamArn === streamArn);
  if (!table) return { problem: `${streamArn} isn't the stream of a table of this run` };
  if (Number(properties.TumblingWindowInSeconds ?? 0) > 0)
    return { problem: "tumbling windows aren't supported locally" };
  return startStreamSource({
    ...contextOf(pathOf(environment.tables, table), target, environment),
    endpoint: environment.dynamodbEndpoint,
    streamArn,
    enabled: isEnabled(properties),
    startingPosition: properties.StartingPosition === "LATEST" ? "LATEST" : "TRIM_HORIZON",
    batchSize: Number(properties.BatchSize ?? DEFAULT_BATCH_SIZE),
    batchingWindowSeconds: Number(properties.MaximumBatchingWindowInSeconds ?? 0),
    maxRetryAttempts: Number(properties.MaximumRetryAttempts ?? -1),
    maxRecordAgeSeconds: Number(properties.MaximumRecordAgeInSeconds ?? -1),
    bisects: String(properties.BisectBatchOnFunctionError) === "true",
    reportsItemFailures: reportsItemFailures(properties),
    passes: eventFilter(properties.FilterCriteria),
    onFailure: failureSender(resource, environment, target, streamArn),
  });
}

function failureSender(
  resource: ResolvedResource,
  environment: LocalEnvironment,
  { target }: MappingTarget,
  streamArn: string,
): (batch: GivenUpBatch) => Promise<void> {
  const { log, clock, sqs } = environment;
  const { Destination } = Object(Object(resource.properties.DestinationConfig).OnFailure);
  const queue = queueOfArn(environment, String(Destination));
  if (Destination !== undefined && !queue) {
    const reason = `records that fail permanently aren't sent to ${Destination}, which isn't a queue of this run`;
    environment.notRun.push(notRunLine(resource, reason));
  }
  return async (batch) => {
    log(`${resource.path}: gave up on ${batch.records.length} records: ${batch.condition}`);
    if (!queue) return;
    const { arn: functionArn } = target;
    const MessageBody = failureMessage(batch, { functionArn, streamArn, nowMs: clock.now() });
    await sqs.model.call("SendMessage", { QueueUrl: queue.url, MessageBody });
  };
}
