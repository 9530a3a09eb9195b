/** Feeds a function from a queue: looks when there is news, and leaves what failed to its visibility timeout. */
import { failedItems } from "../event-sources/partial-batch.ts";
import { sqsRecord } from "../event-sources/sqs-record.ts";
import type { ReceivedMessage } from "../sqs/operations.ts";
import type { SqsModel } from "../sqs/sqs-model.ts";
import type { SimulatedFunction } from "./simulated-function.ts";
import type { QueueConnection } from "./simulator-options.ts";
import type { Stage } from "./stage.ts";

/** How long pollers take to come by, at most. */
const POLL_MS = 50;

export function connectQueue(
  stage: Stage,
  model: SqsModel,
  fn: SimulatedFunction,
  { queueUrl, batchSize = 10, reportsItemFailures = true, concurrency = 2 }: QueueConnection,
): void {
  const { time, trace, activities } = stage;
  const name = queueUrl.slice(queueUrl.lastIndexOf("/") + 1);
  const label = `${name} → ${fn.name}`;
  const random = stage.random.stream(label);
  const arn = `arn:aws:sqs:us-east-1:000000000000:${name}`;
  let pollers = 0;
  /** Whether there was news since somebody began to look. */
  let hasNews = false;
  let endActivity: (() => void) | undefined;
  let cancelWait: () => void = () => undefined;

  function wake(): void {
    cancelWait();
    hasNews = true;
    endActivity ??= activities.begin();
    while (pollers < concurrency) {
      pollers++;
      void poll();
    }
  }

  async function poll(): Promise<void> {
    do {
      await time.sleep(random.between(0, POLL_MS));
      hasNews = false;
    } while ((await handOnBatch()) || hasNews);
    pollers--;
    rest();
  }

  /** Messages in flight come back also while another poller's function still works on them. */
  function rest(): void {
    const { messages, nextVisibleAt } = model.backlog(queueUrl);
    cancelWait();
    if (messages > 0) cancelWait = time.after(nextVisibleAt - time.now(), wake);
    else if (pollers === 0) {
      endActivity?.();
      endActivity = undefined;
    }
  }

  async function handOnBatch(): Promise<boolean> {
    const { Messages: messages = [] } = await model.call("ReceiveMessage", {
      QueueUrl: queueUrl,
      MaxNumberOfMessages: Math.min(10, batchSize),
      AttributeNames: ["All"],
      MessageAttributeNames: ["All"],
    });
    if (messages.length === 0) return false;
    const Records = messages.map((message) => sqsRecord(message, arn, "us-east-1"));
    const invocation = await fn.invoke({ Records });
    const failed =
      invocation.outcome !== "returned"
        ? "all"
        : reportsItemFailures
          ? failedItems(JSON.stringify(invocation.value), new Set(messages.map(({ MessageId }) => MessageId)))
          : new Set<string>();
    const done = failed === "all" ? [] : messages.filter(({ MessageId }) => !failed.has(MessageId));
    for (const message of done) await remove(message);
    trace.note({
      kind: "source",
      hostId: label,
      invocation: invocation.number,
      text: `batch of ${messages.length}, ${messages.length - done.length} failed`,
    });
    return true;
  }

  async function remove({ ReceiptHandle }: ReceivedMessage): Promise<void> {
    // What took longer than its visibility timeout may be somebody else's by now, and stays with them.
    await model.call("DeleteMessage", { QueueUrl: queueUrl, ReceiptHandle }).catch(() => undefined);
  }

  checkQueue(model, queueUrl);
  model.watch(queueUrl, wake);
  if (model.backlog(queueUrl).messages > 0) wake();
}

function checkQueue(model: SqsModel, queueUrl: string): void {
  try {
    model.backlog(queueUrl);
  } catch (cause) {
    throw new Error(
      `there is no queue ${queueUrl} to connect: make it with queue(name), which answers its URL`,
      {
        cause,
      },
    );
  }
}
