// An event source mapping whose source is a queue: the meaning of its properties, and what AWS rejects.
import { sqsFilter } from "onceonly-explorer/aws";
import { startSqsSource } from "../../event-sources/sqs-source.ts";
import type { ResolvedResource } from "../local-environment.ts";
import { type LocalEnvironment, type LocalQueue, pathOf, queueOfArn } from "../local-environment.ts";
import {
  contextOf,
  isEnabled,
  type MappedSource,
  type MappingTarget,
  reportsItemFailures,
} from "./mapped-source.ts";

const DEFAULT_BATCH_SIZE = 10;
/** Lambda begins with this many concurrent batches, and adds more while there is a backlog. */
const DEFAULT_CONCURRENCY = 5;

export async function sqsSourceOf(
  { path, properties }: ResolvedResource,
  environment: LocalEnvironment,
  target: MappingTarget,
): Promise<MappedSource> {
  const queue = queueOfArn(environment, String(properties.EventSourceArn));
  if (!queue) return { problem: `${properties.EventSourceArn} isn't a queue of this run` };
  await checkVisibility(path, queue, environment, target);
  const { MaximumConcurrency = DEFAULT_CONCURRENCY } = Object(properties.ScalingConfig);
  return startSqsSource({
    ...contextOf(pathOf(environment.queues, queue), target, environment),
    model: environment.sqs.model,
    queue,
    enabled: isEnabled(properties),
    batchSize: Number(properties.BatchSize ?? DEFAULT_BATCH_SIZE),
    batchingWindowSeconds: Number(properties.MaximumBatchingWindowInSeconds ?? 0),
    maxConcurrency: Number(MaximumConcurrency),
    reportsItemFailures: reportsItemFailures(properties),
    passes: sqsFilter(properties.FilterCriteria),
  });
}

/** As AWS refuses it: a message would come again while the function may still be at it. */
async function checkVisibility(
  path: string,
  { url }: LocalQueue,
  { sqs }: LocalEnvironment,
  { target }: MappingTarget,
): Promise<void> {
  const { Attributes } = await sqs.model.call("GetQueueAttributes", {
    QueueUrl: url,
    AttributeNames: ["VisibilityTimeout"],
  });
  const visibilitySeconds = Number(Attributes?.VisibilityTimeout);
  if (visibilitySeconds >= target.timeoutSeconds) return;
  throw new Error(
    `event source mapping ${path} was rejected: the queue's visibility timeout of ${visibilitySeconds} s is ` +
      `shorter than the function's timeout of ${target.timeoutSeconds} s: raise it, ideally to six times the timeout`,
  );
}
