// The payments queue and its dead-letter queue, as an operator and as another producer use them: by the API of SQS.
import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  ListMessageMoveTasksCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import { FifoProducer } from "onceonly/messaging";

export interface QueuesOptions {
  /** The engine itself. */
  readonly endpoint: string;
  /** The functions send there, to a queue of this address. */
  readonly senderEndpoint: string;
  readonly senderUrl: string;
  readonly queueUrl: string;
  readonly deadLettersUrl: string;
  readonly deadLettersArn: string;
}

export interface Counts {
  readonly visible: number;
  /** With a consumer, or hidden until their visibility timeout ends. */
  readonly inFlight: number;
}

export interface Queues {
  readonly engine: SQSClient;
  readonly senders: SQSClient;
  payments(): Promise<Counts>;
  deadLetters(): Promise<Counts>;
  /** As its visibility timeout would. */
  endVisibility(receiptHandle: string): Promise<void>;
  /** Moves all dead letters back to their source queue. @returns how many were moved */
  redrive(): Promise<number>;
  /** Sends the message about an order again on purpose. */
  sendAgain(order: { readonly tenant: string; readonly orderId: string }, attempt: number): Promise<void>;
  close(): void;
}

const CLIENT = { region: "us-east-1", credentials: { accessKeyId: "local", secretAccessKey: "local" } };

export function openQueues(options: QueuesOptions): Queues {
  const { senderUrl, queueUrl, deadLettersUrl, deadLettersArn } = options;
  const engine = new SQSClient({ ...CLIENT, endpoint: options.endpoint });
  const senders = new SQSClient({ ...CLIENT, endpoint: options.senderEndpoint });
  const producer = new FifoProducer({ queueUrl: senderUrl, client: senders });

  async function countsOf(QueueUrl: string): Promise<Counts> {
    const { Attributes = {} } = await engine.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }),
    );
    return {
      visible: Number(Attributes.ApproximateNumberOfMessages),
      inFlight: Number(Attributes.ApproximateNumberOfMessagesNotVisible),
    };
  }

  return {
    engine,
    senders,
    payments: () => countsOf(queueUrl),
    deadLetters: () => countsOf(deadLettersUrl),
    async endVisibility(ReceiptHandle) {
      const input = { QueueUrl: queueUrl, ReceiptHandle, VisibilityTimeout: 0 };
      await engine.send(new ChangeMessageVisibilityCommand(input));
    },
    async redrive() {
      await engine.send(new StartMessageMoveTaskCommand({ SourceArn: deadLettersArn }));
      const list = new ListMessageMoveTasksCommand({ SourceArn: deadLettersArn });
      const { Results: [task] = [] } = await engine.send(list);
      return Number(task?.ApproximateNumberOfMessagesMoved ?? 0);
    },
    async sendAgain({ tenant, orderId }, attempt) {
      await producer.resend({ key: orderId, group: orderId, body: { tenant, orderId }, attempt });
    },
    close() {
      engine.destroy();
      senders.destroy();
    },
  };
}
