/**
 * A queue and its event source mapping: what failed comes back when its visibility timeout ends, until it is done. The
 * queue is the simulator's, under the name that the event's records give it; ids and receipts are the queue's own.
 */
import type { ReceivedMessage } from "../../sqs/operations.ts";
import type { Answer, Source, Stage } from "../source.ts";
import { batchAnswer, failedIn } from "./batch-answer.ts";
import { outgoingOf, type QueueEvent, queueNameOf, recordOf } from "./queue-record.ts";

const MAX_BATCH = 10;
const WAIT_SECONDS = 20;
/** A record may come back so often, beyond what others are given. */
const VISIBILITIES = 3;

export function queueSource(): Source {
  let url = "";
  let last: readonly ReceivedMessage[] = [];

  async function receive({ aws, event }: Stage): Promise<readonly ReceivedMessage[]> {
    const { Messages = [] } = await aws.sqs.call("ReceiveMessage", {
      QueueUrl: url,
      MaxNumberOfMessages: Math.min(MAX_BATCH, (event as QueueEvent).Records.length),
      WaitTimeSeconds: WAIT_SECONDS,
      AttributeNames: ["All"],
      MessageAttributeNames: ["All"],
    });
    return Messages;
  }

  async function handOn(stage: Stage, messages: readonly ReceivedMessage[]) {
    const records = messages.map((message) => recordOf(message, stage.event as QueueEvent));
    const invocation = await stage.fn.invoke({ Records: records });
    const ids = messages.map(({ MessageId }) => MessageId);
    const failed = failedIn(invocation, ids, stage);
    const groups = messages.map(({ MessageId, Attributes }) => ({
      id: MessageId,
      group: Attributes?.MessageGroupId,
    }));
    return { failed, answer: batchAnswer(invocation, groups, failed) };
  }

  return {
    kind: "sqs",
    sender: "the queue",
    async prepare({ aws, event, visibilitySeconds }) {
      const { Records } = event as QueueEvent;
      const name = queueNameOf(Records);
      const existing = await aws.sqs.call("GetQueueUrl", { QueueName: name }).catch(() => undefined);
      url = existing?.QueueUrl ?? (await aws.queue(name, { visibilitySeconds }));
      for (const [index, record] of Records.entries()) {
        await aws.sqs.call("SendMessage", { QueueUrl: url, ...outgoingOf(record, name, index) });
      }
    },
    async deliver(stage) {
      const { aws, clock, patienceMs, visibilitySeconds, note } = stage;
      const until = clock.now() + patienceMs + VISIBILITIES * visibilitySeconds * 1000;
      while ((await countOf(stage, url)) > 0 && clock.now() < until) {
        const messages = await receive(stage);
        if (messages.length === 0) continue;
        if (last.length === 0) last = messages;
        const { failed, answer } = await handOn(stage, messages);
        note(answer);
        for (const { MessageId, ReceiptHandle } of messages) {
          if (failed.has(MessageId)) continue;
          // What took longer than its visibility timeout may be somebody else's by now, and stays with them.
          await aws.sqs.call("DeleteMessage", { QueueUrl: url, ReceiptHandle }).catch(() => undefined);
        }
      }
    },
    async repeat(stage): Promise<Answer> {
      return (await handOn(stage, last)).answer;
    },
  };
}

/** Everything that is in the queue, whether it may be handed out or not. */
async function countOf({ aws }: Stage, url: string): Promise<number> {
  const { Attributes = {} } = await aws.sqs.call("GetQueueAttributes", {
    QueueUrl: url,
    AttributeNames: ["All"],
  });
  const counts = [
    Attributes.ApproximateNumberOfMessages,
    Attributes.ApproximateNumberOfMessagesNotVisible,
    Attributes.ApproximateNumberOfMessagesDelayed,
  ];
  return counts.reduce((sum, count) => sum + Number(count ?? 0), 0);
}
