// Feeds a function from a queue: pollers that each have one batch at a time.
import { answerIn, outcomeOf, type QueueBatchOptions, takeQueueBatch } from "onceonly-explorer/aws";
import { type EventSourceContext, type SourceSwitch, switchable, untilDone } from "./event-source.ts";

type Mapping = Required<Omit<QueueBatchOptions, "invoke" | "waitSeconds">>;

export interface SqsSourceOptions extends EventSourceContext, Mapping {
  readonly enabled: boolean;
  /** How many batches the function may have at the same time. */
  readonly maxConcurrency: number;
}

const WAIT_SECONDS = 20;

export function startSqsSource(options: SqsSourceOptions): SourceSwitch {
  const poll = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) await untilDone(options, signal, () => handOnBatch(options, signal));
  };
  // The queue itself keeps the groups of FIFO queues apart.
  return switchable(async (signal) => {
    await Promise.all(Array.from({ length: options.maxConcurrency }, () => poll(signal)));
  }, options.enabled);
}

async function handOnBatch(options: SqsSourceOptions, signal: AbortSignal): Promise<void> {
  const { clock, label, log } = options;
  let startedAtMs = 0;
  let outcome = "";
  const invoke = async (event: object) => {
    startedAtMs = clock.now();
    const result = await options.invoke(JSON.stringify(event));
    outcome = outcomeOf(result);
    return answerIn(result);
  };
  const batch = await takeQueueBatch({ ...options, waitSeconds: WAIT_SECONDS, invoke }, signal);
  if (batch === undefined) return;
  const failures = batch.failed > 0 ? `, ${batch.failed} failed` : "";
  log(`${label}: batch of ${batch.size} ${outcome}${failures} ${clock.now() - startedAtMs} ms`);
}
