/** GetQueueUrl, ListQueues and ListDeadLetterSourceQueues. */
import type { SqsHandler } from "./handler.ts";
import { pageOf } from "./page.ts";

export const getQueueUrl: SqsHandler<"GetQueueUrl"> = (service, { QueueName }) => ({
  QueueUrl: service.queueByName(QueueName).url,
});

export const listQueues: SqsHandler<"ListQueues"> = (service, { QueueNamePrefix = "", ...page }) => {
  const queues = [...service.queues.values()].filter(({ name }) => name.startsWith(QueueNamePrefix));
  const { items, ...next } = pageOf(
    queues.map(({ url }) => url),
    page,
  );
  return { ...(items.length > 0 && { QueueUrls: items }), ...next };
};

export const listDeadLetterSourceQueues: SqsHandler<"ListDeadLetterSourceQueues"> = (
  service,
  { QueueUrl, ...page },
) => {
  const sources = service.sourcesOf(service.queueByUrl(QueueUrl));
  const { items, ...next } = pageOf(
    sources.map(({ url }) => url),
    page,
  );
  return { queueUrls: items, ...next };
};
