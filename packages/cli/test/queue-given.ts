// Queues on loopback with a dead-letter queue each, for commands that look at them.
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { startSqs } from "../../local/lib/sqs/start-sqs.ts";

export async function startQueues() {
  const engine = await startSqs();
  const client = new SQSClient({
    endpoint: engine.endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  const create = async (QueueName: string, Attributes: Record<string, string>) => {
    const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName, Attributes }));
    return `${QueueUrl}`;
  };
  let made = 0;
  return {
    client,

    /** A pair of queues, whose messages become dead letters with their second receive. */
    async newPair(isFifo = false) {
      const ending = isFifo ? ".fifo" : "";
      const kind: Record<string, string> = isFifo ? { FifoQueue: "true" } : {};
      made += 1;
      const dlq = await create(`dead-${made}${ending}`, kind);
      const { Attributes } = await client.send(
        new GetQueueAttributesCommand({ QueueUrl: dlq, AttributeNames: ["QueueArn"] }),
      );
      const policy = { deadLetterTargetArn: Attributes?.QueueArn, maxReceiveCount: 1 };
      const queue = await create(`work-${made}${ending}`, { ...kind, RedrivePolicy: JSON.stringify(policy) });
      return { queue, dlq };
    },

    async stop() {
      client.destroy();
      await engine.stop();
    },
  };
}
