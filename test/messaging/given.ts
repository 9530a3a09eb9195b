// A FIFO queue on a local SQS, the SDK's client, and a producer whose waits are noted and take no time.
import type { SQSClient } from "@aws-sdk/client-sqs";
import type { SendFailedError } from "../../lib/core/errors.ts";
import type { FifoMessage } from "../../lib/messaging/fifo-message.ts";
import { FifoProducer } from "../../lib/messaging/fifo-producer.ts";
import { MessageProducer, type MessageProducerOptions } from "../../lib/messaging/message-producer.ts";
import type { FifoProducerOptions } from "../../lib/messaging/options.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { newFifo, newQueue, receive, remove } from "../../packages/explorer/test/aws/sqs/cases/case.ts";
import { sdkSubject, sqsClient } from "../../packages/explorer/test/aws/sqs/cases/sdk-subject.ts";
import { startSqs } from "../../packages/local/lib/sqs/start-sqs.ts";
import { timeless } from "../kit/time/timeless.ts";

export type World = Awaited<ReturnType<typeof newWorld>>;

export async function newWorld(attributes: Record<string, string> = {}) {
  const clock = fakeClock();
  const engine = await startSqs({ clock });
  const client: SQSClient = sqsClient(engine.endpoint);
  const subject = sdkSubject({ endpoint: engine.endpoint, clock, stop: () => engine.stop() });
  const queueUrl = await newFifo(subject, attributes);
  const instant = timeless(clock);
  const injected = {
    clock: instant,
    random: { token: () => "token", fraction: () => 1 },
  };
  const newProducer = (changes: Partial<FifoProducerOptions> = {}) =>
    new FifoProducer({ queueUrl, client, ...injected, ...changes });
  const newMessageProducer = (changes: MessageProducerOptions = {}) =>
    new MessageProducer({ sqs: client, ...injected, ...changes });

  return {
    clock,
    client,
    subject,
    queueUrl,
    slept: instant.slept,
    newProducer,
    newMessageProducer,
    producer: newProducer(),
    newQueue: (queueAttributes: Record<string, string>) => newFifo(subject, queueAttributes),
    newStandardQueue: () => newQueue(subject),
    /** Takes everything that is in the queue, in the order of delivery. */
    async drain(url = queueUrl) {
      const taken = [];
      for (let some = await receive(subject, url); some.length > 0; some = await receive(subject, url)) {
        for (const message of some) await remove(subject, url, message);
        taken.push(...some);
      }
      return taken;
    },
    async stop() {
      client.destroy();
      await subject.stop();
    },
  };
}

/** `a1` is the first message of group `a`: its body and its key. */
export const messagesOf = (...names: string[]): FifoMessage[] =>
  names.map((name) => ({ key: name, group: name.replace(/\d+$/, ""), body: name }));

/** What a send failed with. */
export const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => Promise.reject(new Error("nothing failed")),
    (error: SendFailedError) => error,
  );
