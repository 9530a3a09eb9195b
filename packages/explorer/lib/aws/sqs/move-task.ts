/** One redrive: moves the messages of a dead-letter queue one after the other, as new messages. */
import { isVisible } from "./message.ts";
import type { MoveTask, MoveTaskReport } from "./operations.ts";
import type { Queue } from "./queue.ts";
import type { SqsService, StartedMoveTask } from "./service.ts";

/** If no rate is given, AWS chooses one; the model moves everything at once. */
export class MoveTaskRun implements StartedMoveTask {
  readonly handle: string;
  readonly #task: MoveTask;
  readonly #startedAt: number;
  readonly #toMove: readonly string[];
  readonly #cancelling = new AbortController();
  #moved = 0;
  #status: MoveTaskReport["Status"] = "RUNNING";
  #failureReason: string | undefined;

  /** The task moves the messages that are in the queue now, the oldest first. */
  constructor(service: SqsService, task: MoveTask, source: Queue) {
    const now = service.now();
    this.#task = task;
    this.#startedAt = now;
    this.#toMove = [...source.messages(now)].sort((a, b) => a.sentAt - b.sentAt).map(({ id }) => id);
    const text = JSON.stringify({ taskId: service.newId(), sourceArn: task.SourceArn });
    this.handle = Buffer.from(text).toString("base64");
  }

  get isRunning(): boolean {
    return this.#status === "RUNNING";
  }

  async run(service: SqsService, source: Queue): Promise<void> {
    const rate = this.#task.MaxNumberOfMessagesPerSecond;
    for (const id of this.#toMove) {
      if (!this.isRunning) return;
      if (this.#moved > 0 && rate !== undefined) {
        await service.options.clock.sleep(1000 / rate, this.#cancelling.signal);
      }
      if (this.isRunning && !service.closing.signal.aborted) this.#move(service, source, id);
    }
    if (this.isRunning) this.#status = "COMPLETED";
  }

  /** Messages that have already moved stay in their new queue. */
  cancel(): void {
    this.#status = "CANCELLED";
    this.#cancelling.abort();
  }

  report(): MoveTaskReport {
    const { SourceArn, DestinationArn, MaxNumberOfMessagesPerSecond } = this.#task;
    return {
      SourceArn,
      ...(DestinationArn !== undefined && { DestinationArn }),
      ...(MaxNumberOfMessagesPerSecond !== undefined && { MaxNumberOfMessagesPerSecond }),
      ...(this.isRunning && { TaskHandle: this.handle }),
      Status: this.#status,
      ApproximateNumberOfMessagesMoved: this.#moved,
      ApproximateNumberOfMessagesToMove: this.#toMove.length,
      ...(this.#failureReason !== undefined && { FailureReason: this.#failureReason }),
      StartedTimestamp: this.#startedAt,
    };
  }

  #move(service: SqsService, source: Queue, id: string): void {
    const now = service.now();
    const message = source.find(id, now);
    // Another receiver has the message in flight, or has deleted it: it is not moved.
    if (message === undefined || !isVisible(message, now)) return;
    const arn = this.#task.DestinationArn ?? message.deadLetterSourceArn;
    const destination = service.findByArn(arn);
    if (destination === undefined) {
      this.#status = "FAILED";
      this.#failureReason =
        arn === undefined ? "CouldNotDetermineMessageSource" : "AWS.SimpleQueueService.NonExistentQueue";
      return;
    }
    source.remove(message);
    const { firstReceivedAt: _, lastReceivedAt: __, deadLetterSourceArn: ___, ...kept } = message;
    destination.add({
      ...kept,
      id: service.newId(),
      ...(destination.isFifo && { sequenceNumber: service.newSequenceNumber() }),
      sentAt: now,
      receiveCount: 0,
      receivesHere: 0,
      visibleAt: now,
    });
    this.#moved++;
  }
}
