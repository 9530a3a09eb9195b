/** What all operations share: time, ids, the queues by name, and the tasks that move messages. */
import type { Clock, Random } from "../../core/clock.ts";
import type { Disorder } from "./disorder.ts";
import type { MoveTaskRun } from "./move-task.ts";
import type { Queue } from "./queue.ts";
import { queueNameOf } from "./queue-name.ts";
import { SqsError } from "./sqs-error.ts";

export interface SqsServiceOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly region: string;
  readonly accountId: string;
  readonly baseUrl: string;
  readonly maxInFlight: number;
  readonly maxScanned: number;
  readonly disorderOf: (queueName: string) => Disorder;
}

const FIRST_SEQUENCE_NUMBER = 10n ** 19n;

export class SqsService {
  readonly options: SqsServiceOptions;
  readonly queues = new Map<string, Queue>();
  /** When queues were deleted, by name. */
  readonly deletedAt = new Map<string, number>();
  /** The latest first. */
  readonly moveTasks: MoveTaskRun[] = [];
  /** Aborted when the service ends: nobody waits any longer. */
  readonly closing = new AbortController();
  #sequence = 0n;

  constructor(options: SqsServiceOptions) {
    this.options = options;
  }

  now(): number {
    return this.options.clock.now();
  }

  newId(): string {
    return this.options.random.token();
  }

  /** 20 digits, larger each time. */
  newSequenceNumber(): string {
    this.#sequence += 256n;
    return String(FIRST_SEQUENCE_NUMBER + this.#sequence);
  }

  arnOf(queueName: string): string {
    return `arn:aws:sqs:${this.options.region}:${this.options.accountId}:${queueName}`;
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

  /** The queues whose dead-letter queue this is. */
  sourcesOf(deadLetterQueue: Queue): Queue[] {
    return [...this.queues.values()].filter(
      ({ redrivePolicy }) => redrivePolicy?.deadLetterTargetArn === deadLetterQueue.arn,
    );
  }
}
