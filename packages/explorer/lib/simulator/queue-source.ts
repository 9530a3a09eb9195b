/** Feeds a function from a queue; looks again at all news of the queue. */
import { takeQueueBatch } from "../aws/event-sources/queue-batch.ts";
import type { SqsModel } from "../aws/sqs/sqs-model.ts";
import { answerIn, type Invocation } from "./invocation.ts";
import type { SimulatedFunction } from "./simulated-function.ts";
import type { QueueConnection } from "./simulator-options.ts";
import type { Stage } from "./stage.ts";

/** The longest time until a poller looks. */
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
  let pollers = 0;
  /** Whether there was news since the present look began. */
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

  /** Messages whose visibility timeout ends come back, even while another poller's function works on them. */
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
    let invocation: Invocation | undefined;
    const batch = await takeQueueBatch({
      model,
      clock: time,
      queue: { arn: `arn:aws:sqs:us-east-1:000000000000:${name}`, url: queueUrl },
      region: "us-east-1",
      batchSize,
      reportsItemFailures,
      invoke: async (event) => {
        invocation = await fn.invoke(event);
        return answerIn(invocation);
      },
    });
    if (batch === undefined) return false;
    const text = `batch of ${batch.size}, ${batch.failed} failed`;
    trace.note({ kind: "source", hostId: label, invocation: invocation?.number, text });
    return true;
  }

  checkQueue(model, queueUrl);
  model.watch(queueUrl, wake);
  if (model.backlog(queueUrl).messages > 0) wake();
}

function checkQueue(model: SqsModel, queueUrl: string): void {
  try {
    model.backlog(queueUrl);
  } catch (cause) {
    throw new Error(`no queue ${queueUrl} to connect: create it with queue(name), which returns its URL`, {
      cause,
    });
  }
}
