/** Does the steps of a play to a FIFO queue with a dead-letter queue, before a witness. */

import { type FakeClock, fakeClock } from "../../../../../../lib/testing/fake-clock.ts";
import { fakeRandom } from "../../../../../../lib/testing/fake-random.ts";
import type { ReceivedMessage } from "../../../../lib/aws/sqs/operations.ts";
import { SqsModel } from "../../../../lib/aws/sqs/sqs-model.ts";
import { CONSUMERS, type PlayStep, VISIBILITY_SECONDS } from "./steps.ts";
import { Witness } from "./witness.ts";

const RETENTION = { MessageRetentionPeriod: "1209600" };
const MAX_RECEIVES = 3;

export class Play {
  readonly witness: Witness;
  readonly #clock: FakeClock = fakeClock();
  readonly #model = new SqsModel({ clock: this.#clock, random: fakeRandom() });
  /** What each consumer has received and not done with: handles in force, and handles that have lapsed. */
  readonly #held = new Map<string, ReceivedMessage[]>(CONSUMERS.map((name) => [name, []]));
  #queue = "";
  #deadLetters = "";
  #sends = 0;

  constructor() {
    this.witness = new Witness(this.#clock);
  }

  async begin(): Promise<void> {
    const fifo = { FifoQueue: "true", ...RETENTION };
    this.#deadLetters = await this.#create("dead.fifo", fifo);
    const policy = {
      deadLetterTargetArn: "arn:aws:sqs:us-east-1:000000000000:dead.fifo",
      maxReceiveCount: MAX_RECEIVES,
    };
    const VisibilityTimeout = String(VISIBILITY_SECONDS);
    const RedrivePolicy = JSON.stringify(policy);
    this.#queue = await this.#create("queue.fifo", { ...fifo, VisibilityTimeout, RedrivePolicy });
  }

  async take(step: PlayStep): Promise<void> {
    switch (step.do) {
      case "wait":
        return this.#clock.advance(step.ms);
      case "crash":
        this.#held.set(step.consumer, []);
        return;
      case "redrive":
        await this.#model.call("StartMessageMoveTask", {
          SourceArn: "arn:aws:sqs:us-east-1:000000000000:dead.fifo",
        });
        return;
      case "send":
        return this.#send(step.group, step.deduplicationId);
      case "receive":
        return this.#receive(step.consumer, step.max);
      default:
        return this.#useHandle(step);
    }
  }

  /** Everything that is still there, wherever it is. */
  async drain(): Promise<string[]> {
    await this.#clock.advance(3_600_000);
    const bodies: string[] = [];
    for (const QueueUrl of [this.#queue, this.#deadLetters]) {
      for (;;) {
        const { Messages = [] } = await this.#model.call("ReceiveMessage", { QueueUrl });
        for (const { Body, ReceiptHandle } of Messages) {
          bodies.push(Body);
          await this.#model.call("DeleteMessage", { QueueUrl, ReceiptHandle });
        }
        if (Messages.length === 0) break;
      }
    }
    return bodies;
  }

  async #create(QueueName: string, Attributes: Record<string, string>): Promise<string> {
    return (await this.#model.call("CreateQueue", { QueueName, Attributes })).QueueUrl;
  }

  async #send(group: string, deduplicationId: string): Promise<void> {
    const body = `m${this.#sends++}`;
    const { MessageId } = await this.#model.call("SendMessage", {
      QueueUrl: this.#queue,
      MessageBody: body,
      MessageGroupId: group,
      MessageDeduplicationId: deduplicationId,
    });
    this.witness.noteSent(group, deduplicationId, body, MessageId);
  }

  async #receive(consumer: string, max: number): Promise<void> {
    const { Messages = [] } = await this.#model.call("ReceiveMessage", {
      QueueUrl: this.#queue,
      MaxNumberOfMessages: max,
      MessageSystemAttributeNames: ["All"],
    });
    this.witness.noteReceived(Messages, VISIBILITY_SECONDS);
    this.#held.get(consumer)?.push(...Messages);
  }

  async #useHandle(step: PlayStep & { readonly do: "delete" | "change" }): Promise<void> {
    const message = this.#held.get(step.consumer)?.[step.position];
    if (message === undefined) return;
    const receipt = { QueueUrl: this.#queue, ReceiptHandle: message.ReceiptHandle };
    if (step.do === "delete") {
      const wasAccepted = await isAccepted(this.#model.call("DeleteMessage", receipt));
      this.witness.noteDeleted(message, wasAccepted);
    } else {
      const change = { ...receipt, VisibilityTimeout: step.seconds };
      const wasAccepted = await isAccepted(this.#model.call("ChangeMessageVisibility", change));
      this.witness.noteChanged(message, step.seconds, wasAccepted);
    }
  }
}

function isAccepted(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
