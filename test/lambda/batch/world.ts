// Polls a queue of the SQS model as Lambda's event source mapping does: one batch, one invocation, and what is not
// returned is deleted. https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
import type { Context, SQSEvent, SQSRecord } from "aws-lambda";
import { type FakeClock, fakeLambdaContext, fakeRandom } from "onceonly/testing";
import type { BatchResponse } from "../../../lib/lambda/batch/item.ts";
import { SqsModel } from "../../../packages/explorer/lib/aws/sqs/sqs-model.ts";

export type SqsHandler = (event: SQSEvent, context: Context) => Promise<BatchResponse>;

export class EventSource {
  readonly model: SqsModel;
  readonly isFifo: boolean;
  readonly #clock: FakeClock;
  #url = "";
  #deadLetterUrl = "";
  #sent = 0;

  constructor(clock: FakeClock, isFifo: boolean) {
    this.#clock = clock;
    this.isFifo = isFifo;
    this.model = new SqsModel({ clock, random: fakeRandom("queue") });
  }

  async open(visibilitySeconds: number, maxReceiveCount: number): Promise<this> {
    const suffix = this.isFifo ? ".fifo" : "";
    const fifo = this.isFifo ? { FifoQueue: "true" } : undefined;
    const dead = await this.model.call("CreateQueue", {
      QueueName: `dead${suffix}`,
      Attributes: { ...fifo },
    });
    const { Attributes } = await this.model.call("GetQueueAttributes", {
      QueueUrl: dead.QueueUrl,
      AttributeNames: ["QueueArn"],
    });
    const RedrivePolicy = JSON.stringify({
      deadLetterTargetArn: Attributes?.QueueArn,
      maxReceiveCount,
    });
    const made = await this.model.call("CreateQueue", {
      QueueName: `payments${suffix}`,
      Attributes: { ...fifo, VisibilityTimeout: `${visibilitySeconds}`, RedrivePolicy },
    });
    this.#url = made.QueueUrl;
    this.#deadLetterUrl = dead.QueueUrl;
    return this;
  }

  async send(body: string, group = "one"): Promise<void> {
    const MessageDeduplicationId = `${this.#sent++}`;
    const fifo = this.isFifo ? { MessageGroupId: group, MessageDeduplicationId } : undefined;
    await this.model.call("SendMessage", { QueueUrl: this.#url, MessageBody: body, ...fifo });
  }

  /** One poll and the invocation for what it finds. Answers how many messages there were. */
  async poll(handler: SqsHandler, timeoutMs = 10_000): Promise<number> {
    const { Messages = [] } = await this.model.call("ReceiveMessage", {
      QueueUrl: this.#url,
      MaxNumberOfMessages: 10,
      AttributeNames: ["All"],
      MessageAttributeNames: ["All"],
    });
    if (Messages.length === 0) return 0;
    const eventSourceARN = `arn:aws:sqs:us-east-1:000000000000:${this.#url.split("/").at(-1)}`;
    const Records = Messages.map((message) => ({
      messageId: message.MessageId,
      receiptHandle: message.ReceiptHandle,
      body: message.Body,
      attributes: message.Attributes,
      messageAttributes: {},
      eventSource: "aws:sqs",
      eventSourceARN,
    })) as unknown as SQSRecord[];
    const invocation = fakeLambdaContext({ clock: this.#clock, remainingMs: timeoutMs }) as Context;
    const crashed = this.#clock.sleep(timeoutMs).then(() => undefined);
    const answer = await Promise.race([handler({ Records }, invocation).catch(() => undefined), crashed]);
    if (answer === undefined) return Messages.length;
    const failed = new Set(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    for (const { MessageId, ReceiptHandle } of Messages) {
      if (!failed.has(MessageId)) {
        // A handle that is no longer the latest deletes nothing.
        await this.model.call("DeleteMessage", { QueueUrl: this.#url, ReceiptHandle }).catch(() => {});
      }
    }
    return Messages.length;
  }

  async counts(): Promise<{ left: number; dead: number }> {
    return { left: await this.#count(this.#url), dead: await this.#count(this.#deadLetterUrl) };
  }

  async #count(QueueUrl: string): Promise<number> {
    const { Attributes = {} } = await this.model.call("GetQueueAttributes", {
      QueueUrl,
      AttributeNames: ["All"],
    });
    return ["", "NotVisible", "Delayed"]
      .map((state) => Number(Attributes[`ApproximateNumberOfMessages${state}`]))
      .reduce((sum, count) => sum + count);
  }
}
