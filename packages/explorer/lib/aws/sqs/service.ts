/** Shared by all operations: the time, new ids, the queues by name, and the tasks that move messages. */
import { AwsService, type AwsServiceOptions } from "../aws-service.ts";
import type { Disorder } from "./disorder.ts";
import type { MoveTaskReport } from "./operations.ts";
import type { Queue } from "./queue.ts";
import { queueNameOf } from "./queue-name.ts";
import { SqsError } from "./sqs-error.ts";

export interface SqsServiceOptions extends AwsServiceOptions {
  readonly baseUrl: string;
  readonly maxInFlight: number;
  readonly maxScanned: number;
  readonly disorderOf: (queueName: string) => Disorder;
}

/** A task that moves messages, as the service keeps it. */
export interface StartedMoveTask {
  readonly handle: string;
  readonly isRunning: boolean;
  cancel(): void;
  report(): MoveTaskReport;
}

export class SqsService extends AwsService<SqsServiceOptions> {
  readonly queues = new Map<string, Queue>();
  /** When queues were deleted, by their names. */
  readonly deletedAt = new Map<string, number>();
  /** The latest first. */
  readonly moveTasks: StartedMoveTask[] = [];
  /** Aborted when the service ends, so receivers stop waiting. */
  readonly closing = new AbortController();

  constructor(options: SqsServiceOptions) {
    super(options, "sqs", 256n);
  }

  urlOf(queueName: string): string {
    return `${this.options.baseUrl}/${this.options.accountId}/${queueName}`;
  }

  queueByUrl(queueUrl: unknown): Queue {
    return this.queueByName(queueNameOf(queueUrl));
  }

  queueByName(name: string): Queue {
    const queue = this.queues.get(name);
    if (queue === undefined) {
      throw new SqsError("QueueDoesNotExist", "The specified queue does not exist.");
    }
    return queue;
  }

  findByArn(arn: string | undefined): Queue | undefined {
    const queue = this.queues.get(arn?.slice(arn.lastIndexOf(":") + 1) ?? "");
    return queue?.arn === arn ? queue : undefined;
  }

  /** The queues that use this queue as their dead-letter queue. */
  sourcesOf(deadLetterQueue: Queue): Queue[] {
    return [...this.queues.values()].filter(
      ({ redrivePolicy }) => redrivePolicy?.deadLetterTargetArn === deadLetterQueue.arn,
    );
  }
}
