// Plays a plan: a FIFO producer, a FIFO queue with dead letters, and invocations of a batch handler, in one process and
// on one clock. Keeps account of what was sent and of what happened to it outside of the handler.
import type { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { type AwsClientLike, FifoProducer } from "onceonly/messaging";
import { fakeClock, fakeRandom } from "onceonly/testing";
import type { ReceivedMessage } from "../../../packages/explorer/lib/aws/sqs/operations.ts";
import { SqsModel } from "../../../packages/explorer/lib/aws/sqs/sqs-model.ts";
import { MessageConsumer } from "./message-consumer.ts";
import type { Invocation, MessagePlan, MessageStep } from "./message-steps.ts";

const VISIBILITY_SECONDS = 12;
const MAX_RECEIVES = 3;
const FIFO = { FifoQueue: "true", MessageRetentionPeriod: "1209600" };
const DEAD_ARN = "arn:aws:sqs:us-east-1:000000000000:dead.fifo";

const HEALTHY: Invocation = {
  do: "invoke",
  maxMessages: 10,
  fates: [],
  death: undefined,
  thaws: false,
  answer: "reported",
};

export class MessagePlay {
  readonly consumer: MessageConsumer;
  /** Keys by group, in the order in which they were sent for the first time. */
  readonly sent = new Map<string, string[]>();
  /** Keys of which a message was in the dead-letter queue. */
  readonly parked = new Set<string>();
  /** Keys of which a message was deleted before its work was done. */
  readonly deletedUndone = new Set<string>();
  readonly #steps: readonly MessageStep[];
  readonly #clock = fakeClock();
  readonly #model = new SqsModel({ clock: this.#clock, random: fakeRandom("queue") });
  readonly #sentIds = new Set<string>();
  readonly #attempts = new Map<string, number>();
  readonly #urls = { queue: "", dead: "" };
  #producer!: FifoProducer;
  #losesNextAnswer = false;

  constructor(plan: MessagePlan) {
    this.#steps = plan.steps;
    this.consumer = new MessageConsumer(this.#clock, plan, (request) =>
      this.#model.call("ChangeMessageVisibilityBatch", request),
    );
  }

  async play(): Promise<this> {
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: DEAD_ARN, maxReceiveCount: MAX_RECEIVES });
    const VisibilityTimeout = String(VISIBILITY_SECONDS);
    this.#urls.dead = await this.#create("dead.fifo", FIFO);
    this.#urls.queue = await this.#create("payments.fifo", { ...FIFO, VisibilityTimeout, RedrivePolicy });
    const client = this.#client();
    this.#producer = new FifoProducer({ queueUrl: this.#urls.queue, client, clock: this.#clock });
    for (const step of this.#steps) await this.#take(step);
    return this;
  }

  /** Everything is mended: what is parked is redriven, and consumers work until nothing is left anywhere. */
  async drain(): Promise<void> {
    for (let rounds = 0; await this.#isMessageLeft(); rounds++) {
      if (rounds === 50) throw new Error("the queues never became empty");
      // Over for all that was under way: visibility, lease, and what thawed.
      await this.#clock.advance(60_000);
      await this.#redrive();
      while (await this.#clock.run(this.#invoke(HEALTHY)));
    }
    await this.#clock.advance(60_000);
  }

  resend(key: string): Promise<unknown> {
    return this.#resend(key, true);
  }

  effects(): string[] {
    return [...this.sent.keys()].flatMap((group) => this.consumer.effectsOf(group));
  }

  async #take(step: MessageStep): Promise<unknown> {
    const known = [...this.sent.values()].flat();
    const at = (position: number) => known[position % known.length];
    switch (step.do) {
      case "wait":
        return this.#clock.advance(step.ms);
      case "redrive":
        return this.#redrive();
      case "send":
        return this.#send(step.groups, step.isAnswerLost);
      case "send-again": {
        const key = at(step.position);
        return key && this.#note(await this.#producer.send(messageOf(key)));
      }
      case "resend": {
        const key = at(step.position);
        return key && this.#resend(key, step.isNewAttempt);
      }
      default:
        void this.#invoke(step);
        // As far as it comes without time.
        return this.#clock.advance(0);
    }
  }

  async #send(groups: readonly string[], isAnswerLost: boolean): Promise<void> {
    const messages = groups.map((group) => {
      const keys = this.sent.get(group) ?? [];
      const key = `${group}${keys.length}`;
      this.sent.set(group, [...keys, key]);
      return messageOf(key);
    });
    this.#losesNextAnswer = isAnswerLost;
    const again = () => this.#producer.sendBatch(messages);
    for (const sent of await again().catch(again)) this.#note(sent);
  }

  async #resend(key: string, isNewAttempt: boolean): Promise<void> {
    const attempt = Math.max(1, (this.#attempts.get(key) ?? 0) + Number(isNewAttempt));
    this.#attempts.set(key, attempt);
    this.#note(await this.#producer.resend({ ...messageOf(key), attempt }));
  }

  #note({ messageId }: { readonly messageId: string }): void {
    this.#sentIds.add(messageId);
  }

  /** One receive, and the invocation for what it finds. Answers whether that was anything. */
  async #invoke(invocation: Invocation): Promise<boolean> {
    const { Messages = [] } = await this.#model.call("ReceiveMessage", {
      QueueUrl: this.#urls.queue,
      MaxNumberOfMessages: invocation.maxMessages,
      MessageSystemAttributeNames: ["All"],
      MessageAttributeNames: ["All"],
    });
    if (Messages.length === 0) return false;
    // Only a redrive gives a message an id that no send was answered with.
    for (const { MessageId, Body } of Messages) if (!this.#sentIds.has(MessageId)) this.parked.add(Body);
    const returned = await this.consumer.invoke(invocation, Messages);
    if (returned === undefined || invocation.answer === "lost") return true;
    // A batch of which nothing is done throws: that nobody ignores.
    const isIgnored = invocation.answer === "ignored" && returned.length < Messages.length;
    for (const message of Messages) {
      const isUndone = returned.includes(message.MessageId);
      if (!isUndone || isIgnored) await this.#delete(message, isUndone);
    }
    return true;
  }

  async #delete({ ReceiptHandle, Body }: ReceivedMessage, isUndone: boolean): Promise<void> {
    const request = { QueueUrl: this.#urls.queue, ReceiptHandle };
    // A handle that is no longer in force deletes nothing.
    const deleted = await this.#model.call("DeleteMessage", request).catch(() => undefined);
    if (deleted !== undefined && isUndone) this.deletedUndone.add(Body);
  }

  async #redrive(): Promise<void> {
    await this.#model.call("StartMessageMoveTask", { SourceArn: DEAD_ARN });
  }

  async #isMessageLeft(): Promise<boolean> {
    const AttributeNames = ["All"];
    for (const QueueUrl of Object.values(this.#urls)) {
      const { Attributes = {} } = await this.#model.call("GetQueueAttributes", { QueueUrl, AttributeNames });
      const numbers = Object.entries(Attributes).filter(([name]) => /^ApproximateNumber/.test(name));
      if (numbers.some(([, count]) => count !== "0")) return true;
    }
    return false;
  }

  async #create(QueueName: string, Attributes: Record<string, string>): Promise<string> {
    return (await this.#model.call("CreateQueue", { QueueName, Attributes })).QueueUrl;
  }

  /** The model in the place of AWS's client. */
  #client(): AwsClientLike {
    return {
      config: {},
      send: async ({ input }: SendMessageBatchCommand) => {
        const answer = await this.#model.call("SendMessageBatch", input as never);
        if (!this.#losesNextAnswer) return answer;
        this.#losesNextAnswer = false;
        throw new Error("the answer was lost");
      },
    };
  }
}

/** `a1` is the second message of group `a`: key and body. */
function messageOf(key: string) {
  return { key, group: key.replace(/\d+$/, ""), body: key };
}
