/** GetQueueUrl and ListQueues. */
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
