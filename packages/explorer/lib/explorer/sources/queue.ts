/**
 * A queue and its event source mapping: failed messages come back when their visibility timeout ends. The
 * simulator's queue has the name in the event's records, and makes its own ids and receipts.
 */
import { takeQueueBatch } from "../../aws/event-sources/queue-batch.ts";
import { answerIn } from "../../simulator/invocation.ts";
import type { Source, SourceStage } from "../source.ts";
import { type BatchEvent, batchAnswer } from "./batch-answer.ts";
import { arnOf, outgoingOf, type QueueRecord, queueNameOf, regionOf } from "./queue-record.ts";
import { batchLike, recordsIn } from "./records-in.ts";

const MAX_BATCH = 10;
const WAIT_SECONDS = 20;
/** How often a record may come back, beyond the other sources' number. */
const VISIBILITIES = 3;

export function queueSource(): Source {
  let url = "";
  let first: BatchEvent = { Records: [] };

  async function handOn({ fn, event, reportsItemFailures }: SourceStage, batch: BatchEvent) {
    const invocation = await fn.invoke(batchLike(event, batch.Records));
    return { invocation, answer: batchAnswer(invocation, batch, reportsItemFailures) };
  }

  return {
    kind: "sqs",
    sender: "the queue",
    async prepare({ aws, event, visibilitySeconds }) {
      const Records = recordsIn<QueueRecord>(event);
      const name = queueNameOf(Records);
      const existing = await aws.sqs.call("GetQueueUrl", { QueueName: name }).catch(() => undefined);
      url = existing?.QueueUrl ?? (await aws.queue(name, { visibilitySeconds }));
      for (const [index, record] of Records.entries()) {
        await aws.sqs.call("SendMessage", { QueueUrl: url, ...outgoingOf(record, name, index) });
      }
    },
    async deliver(stage) {
      const { aws, clock, event, patienceMs, visibilitySeconds, reportsItemFailures, note } = stage;
      const Records = recordsIn<QueueRecord>(event);
      const mapping = {
        model: aws.sqs,
        clock,
        queue: { arn: arnOf(Records), url },
        region: regionOf(Records),
        batchSize: Math.min(MAX_BATCH, Records.length),
        waitSeconds: WAIT_SECONDS,
        reportsItemFailures,
        invoke: async (batch: BatchEvent) => {
          if (first.Records.length === 0) first = batch;
          const { invocation, answer } = await handOn(stage, batch);
          note(answer);
          return answerIn(invocation);
        },
      };
      const until = clock.now() + patienceMs + VISIBILITIES * visibilitySeconds * 1000;
      while (aws.sqs.backlog(url).messages > 0 && clock.now() < until) await takeQueueBatch(mapping);
    },
    async repeat(stage) {
      return (await handOn(stage, first)).answer;
    },
  };
}
