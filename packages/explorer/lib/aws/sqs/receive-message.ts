/** ReceiveMessage: receives deliverable messages, or waits for them. */
import { deadLetterQueueFor, moveToDeadLetters } from "./dead-letters.ts";
import type { QueuedMessage } from "./message.ts";
import type { OfQueue, ReceiveRequest, SqsOperations } from "./operations.ts";
import type { Queue } from "./queue.ts";
import { receivedMessage } from "./received-message.ts";
import type { SqsService } from "./service.ts";
import { invalidValue, SqsError } from "./sqs-error.ts";
import { MAX_VISIBILITY_SECONDS } from "./visibility.ts";

const MAX_MESSAGES = 10;
const MAX_WAIT_SECONDS = 20;

type ReceiveAnswer = SqsOperations["ReceiveMessage"]["output"];

/** Stops waiting when `signal` aborts, and then receives no message for the caller that left. */
export async function receiveMessage(
  service: SqsService,
  request: OfQueue & ReceiveRequest,
  signal: AbortSignal,
): Promise<ReceiveAnswer> {
  const queue = service.queueByUrl(request.QueueUrl);
  const { MaxNumberOfMessages: max = 1, WaitTimeSeconds = queue.number("ReceiveMessageWaitTimeSeconds") } =
    request;
  checkRange("MaxNumberOfMessages", max, 1, MAX_MESSAGES, "Must be between 1 and 10, if provided.");
  checkRange("WaitTimeSeconds", WaitTimeSeconds, 0, MAX_WAIT_SECONDS, "Must be >= 0 and <= 20, if provided.");
  const visibilitySeconds = request.VisibilityTimeout ?? queue.number("VisibilityTimeout");
  checkRange(
    "VisibilityTimeout",
    visibilitySeconds,
    0,
    MAX_VISIBILITY_SECONDS,
    "Must be >= 0 and <= 43200, if provided.",
  );

  const again = queue.attempts.again(
    request.ReceiveRequestAttemptId,
    queue,
    visibilitySeconds,
    service.now(),
  );
  if (again !== undefined) return answerOf(queue, again, request);

  const deadline = service.now() + WaitTimeSeconds * 1000;
  while (!signal.aborted) {
    const messages = take(service, queue, max, WaitTimeSeconds > 0);
    if (messages.length > 0) {
      queue.deliver(messages, visibilitySeconds, service.now());
      queue.attempts.note(request.ReceiveRequestAttemptId, messages, service.now());
      return answerOf(queue, messages, request);
    }
    if (service.now() >= deadline) break;
    await untilNews(service, queue, deadline, signal);
  }
  return {};
}

function answerOf(queue: Queue, messages: readonly QueuedMessage[], request: ReceiveRequest): ReceiveAnswer {
  return { Messages: messages.map((message) => receivedMessage(queue, message, request)) };
}

function take(service: SqsService, queue: Queue, max: number, isLongPoll: boolean): QueuedMessage[] {
  const now = service.now();
  const room = service.options.maxInFlight - queue.inFlightCount(now);
  if (room <= 0) return refuseOverLimit(queue, isLongPoll);
  const taken: QueuedMessage[] = [];
  for (const message of queue.deliverable(now)) {
    const deadLetterQueue = deadLetterQueueFor(service, queue, message);
    if (deadLetterQueue === undefined) taken.push(message);
    else moveToDeadLetters(service, queue, message, deadLetterQueue);
    if (taken.length >= Math.min(max, room)) break;
  }
  return taken;
}

/**
 * Only a short poll of a standard queue gets this error:
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html
 */
function refuseOverLimit(queue: Queue, isLongPoll: boolean): [] {
  if (queue.isFifo || isLongPoll) return [];
  throw new SqsError("OverLimit", "Too many messages are in flight in this queue.");
}

async function untilNews(
  service: SqsService,
  queue: Queue,
  deadline: number,
  signal: AbortSignal,
): Promise<void> {
  const now = service.now();
  const news = new AbortController();
  const stop = () => news.abort();
  const unwatch = queue.watch(stop);
  signal.addEventListener("abort", stop, { once: true });
  await service.options.clock.sleep(Math.min(deadline, queue.nextVisibleAt(now)) - now, news.signal);
  signal.removeEventListener("abort", stop);
  unwatch();
}

function checkRange(parameter: string, value: number, min: number, max: number, reason: string): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw invalidValue(parameter, value, reason);
}
