/**
 * SQS in the memory of one process, on the caller's clock. The model uses no network, no disk and no
 * environment.
 */
import { type Clock, type Random, systemClock, systemRandom } from "onceonly/kit";
import { createQueue, deleteQueue, setQueueAttributes } from "./create-queue.ts";
import { deleteMessage, deleteMessageBatch } from "./delete-message.ts";
import { getQueueAttributes } from "./describe-queue.ts";
import type { Disorder } from "./disorder.ts";
import { getQueueUrl, listQueues } from "./find-queues.ts";
import type { SqsHandler } from "./handler.ts";
import { listMessageMoveTasks, startMessageMoveTask } from "./move-tasks.ts";
import type { SqsOperationName, SqsOperations } from "./operations.ts";
import { purgeQueue } from "./purge-queue.ts";
import { receiveMessage } from "./receive-message.ts";
import { sendMessage, sendMessageBatch } from "./send-message.ts";
import { SqsService } from "./service.ts";
import { SqsError } from "./sqs-error.ts";
import { changeMessageVisibility, changeMessageVisibilityBatch } from "./visibility.ts";

export interface SqsModelOptions {
  /** @default the system's */
  readonly clock?: Clock | undefined;
  /**
   * Source of message ids.
   * @default the system's
   */
  readonly random?: Random | undefined;
  /** @default "us-east-1" */
  readonly region?: string | undefined;
  /** @default "000000000000" */
  readonly accountId?: string | undefined;
  /**
   * The beginning of queue URLs.
   * @default "https://sqs.us-east-1.amazonaws.com", with the model's Region
   */
  readonly baseUrl?: string | undefined;
  /**
   * How many messages of a queue may be in flight.
   * @default 120000
   */
  readonly maxInFlight?: number | undefined;
  /**
   * How many messages a FIFO queue scans for a deliverable one: a backlog in one group hides the groups
   * after it.
   * @default 120000
   */
  readonly maxScanned?: number | undefined;
  /**
   * Disorder of standard queues, by their names.
   * @default - none: messages keep their order, and none comes twice
   */
  readonly disorderOf?: ((queueName: string) => Disorder | undefined) | undefined;
}

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-fifo.html */
const MAX_IN_FLIGHT = 120_000;
const MAX_SCANNED = 120_000;

const HANDLERS: { readonly [Name in Exclude<SqsOperationName, "ReceiveMessage">]: SqsHandler<Name> } = {
  ChangeMessageVisibility: changeMessageVisibility,
  ChangeMessageVisibilityBatch: changeMessageVisibilityBatch,
  CreateQueue: createQueue,
  DeleteMessage: deleteMessage,
  DeleteMessageBatch: deleteMessageBatch,
  DeleteQueue: deleteQueue,
  GetQueueAttributes: getQueueAttributes,
  GetQueueUrl: getQueueUrl,
  ListMessageMoveTasks: listMessageMoveTasks,
  ListQueues: listQueues,
  PurgeQueue: purgeQueue,
  SendMessage: sendMessage,
  SendMessageBatch: sendMessageBatch,
  SetQueueAttributes: setQueueAttributes,
  StartMessageMoveTask: startMessageMoveTask,
};

const NEVER = new AbortController().signal;

/**
 * Standard and FIFO queues with the semantics that AWS documents. Each operation is one step, and time passes
 * only when the clock moves. AWS promises little about order and repetition in standard queues: the model keeps the
 * order and repeats nothing, unless an option changes that.
 */
export class SqsModel {
  readonly #service: SqsService;

  constructor(options: SqsModelOptions = {}) {
    const region = options.region ?? "us-east-1";
    this.#service = new SqsService({
      clock: options.clock ?? systemClock,
      random: options.random ?? systemRandom,
      region,
      accountId: options.accountId ?? "000000000000",
      baseUrl: options.baseUrl ?? `https://sqs.${region}.amazonaws.com`,
      maxInFlight: options.maxInFlight ?? MAX_IN_FLIGHT,
      maxScanned: options.maxScanned ?? MAX_SCANNED,
      disorderOf: (queueName) => options.disorderOf?.(queueName) ?? {},
    });
  }

  /**
   * Runs an operation by the name of its SDK command, with the command's input and output. A receive ends
   * early, and receives nothing, once `signal` aborts.
   * @throws SqsError with the name of AWS's error
   */
  async call<Name extends SqsOperationName>(
    name: Name,
    input: SqsOperations[Name]["input"],
    signal: AbortSignal = NEVER,
  ): Promise<SqsOperations[Name]["output"]> {
    if (name === "ReceiveMessage") {
      const either = signal === NEVER ? this.#closing : AbortSignal.any([signal, this.#closing]);
      return receiveMessage(this.#service, input as SqsOperations["ReceiveMessage"]["input"], either);
    }
    if (!Object.hasOwn(HANDLERS, name)) {
      throw new SqsError("UnknownOperationException", `the model doesn't support the operation ${name}`);
    }
    const handler = HANDLERS[name as keyof typeof HANDLERS] as unknown as SqsHandler<Name>;
    return handler(this.#service, input);
  }

  /** How many messages a queue holds, and when the next delayed or in-flight message becomes visible. */
  backlog(queueUrl: string): { readonly messages: number; readonly nextVisibleAt: number } {
    const queue = this.#service.queueByUrl(queueUrl);
    const now = this.#service.now();
    return { messages: queue.size(now), nextVisibleAt: queue.nextVisibleAt(now) };
  }

  /**
   * Calls `listener` whenever another message in a queue may be deliverable. Call the returned function to
   * stop.
   */
  watch(queueUrl: string, listener: () => void): () => void {
    return this.#service.queueByUrl(queueUrl).watch(listener);
  }

  /** Ends all waiting: receives answer without messages, and redrives stop. */
  close(): void {
    this.#service.closing.abort();
    for (const run of this.#service.moveTasks) if (run.isRunning) run.cancel();
  }

  get #closing(): AbortSignal {
    return this.#service.closing.signal;
  }
}
