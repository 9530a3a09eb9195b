/**
 * A queue and its event source mapping: what failed comes back when its visibility timeout ends, until it is done. The
 * queue is the simulator's, under the name that the event's records give it; ids and receipts are the queue's own.
 */
import { takeQueueBatch } from "../../aws/event-sources/queue-batch.ts";
import { answerIn } from "../../simulator/invocation.ts";
import type { Source, SourceStage } from "../source.ts";
import { type BatchEvent, batchAnswer } from "./batch-answer.ts";
import { arnOf, outgoingOf, type QueueEvent, queueNameOf, regionOf } from "./queue-record.ts";

const MAX_BATCH = 10;
const WAIT_SECONDS = 20;
/** A record may come back so often, beyond what others are given. */
const VISIBILITIES = 3;

export function queueSource(): Source {
  let url = "";
  let first: BatchEvent = { Records: [] };

  async function handOn({ fn, reportsItemFailures }: SourceStage, batch: BatchEvent) {
    const invocation = await fn.invoke(batch);
    return { invocation, answer: batchAnswer(invocation, batch, reportsItemFailures) };
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
      const { aws, clock, event, patienceMs, visibilitySeconds, reportsItemFailures, note } = stage;
      const { Records } = event as QueueEvent;
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
