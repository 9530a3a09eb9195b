/**
 * The model's operations of SQS, with the inputs and outputs of the AWS SDK.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_Operations.html
 */
import type { SqsMessageAttributes } from "./message.ts";

export interface OfQueue {
  readonly QueueUrl: string;
}

type Attributes = Readonly<Record<string, string>>;

export interface Page {
  readonly MaxResults?: number | undefined;
  readonly NextToken?: string | undefined;
}

export interface SendRequest {
  readonly MessageBody: string;
  readonly DelaySeconds?: number | undefined;
  readonly MessageAttributes?: SqsMessageAttributes | undefined;
  readonly MessageSystemAttributes?: SqsMessageAttributes | undefined;
  readonly MessageDeduplicationId?: string | undefined;
  readonly MessageGroupId?: string | undefined;
}

export interface SendAnswer {
  readonly MessageId: string;
  readonly MD5OfMessageBody: string;
  readonly MD5OfMessageAttributes?: string;
  readonly MD5OfMessageSystemAttributes?: string;
  readonly SequenceNumber?: string;
}

export interface ReceiveRequest {
  readonly AttributeNames?: readonly string[] | undefined;
  readonly MessageSystemAttributeNames?: readonly string[] | undefined;
  readonly MessageAttributeNames?: readonly string[] | undefined;
  readonly MaxNumberOfMessages?: number | undefined;
  readonly VisibilityTimeout?: number | undefined;
  readonly WaitTimeSeconds?: number | undefined;
  readonly ReceiveRequestAttemptId?: string | undefined;
}

export interface ReceivedMessage {
  readonly MessageId: string;
  readonly ReceiptHandle: string;
  readonly Body: string;
  readonly MD5OfBody: string;
  readonly Attributes?: Attributes;
  readonly MessageAttributes?: SqsMessageAttributes;
  readonly MD5OfMessageAttributes?: string;
}

export interface OfReceipt {
  readonly ReceiptHandle: string;
}

export interface VisibilityChange extends OfReceipt {
  readonly VisibilityTimeout: number;
}

export interface BatchOf<Entry> {
  readonly Entries: readonly (Entry & { readonly Id: string })[];
}

export interface FailedEntry {
  readonly Id: string;
  readonly Code: string;
  readonly Message: string;
  readonly SenderFault: boolean;
}

export interface SqsBatchResult<Success = unknown> {
  readonly Successful?: readonly (Success & { readonly Id: string })[];
  readonly Failed?: readonly FailedEntry[];
}

export interface MoveTask {
  readonly SourceArn: string;
  readonly DestinationArn?: string | undefined;
  readonly MaxNumberOfMessagesPerSecond?: number | undefined;
}

export interface MoveTaskReport extends MoveTask {
  readonly TaskHandle?: string;
  readonly Status: "RUNNING" | "COMPLETED" | "CANCELLED" | "FAILED";
  readonly ApproximateNumberOfMessagesMoved: number;
  readonly ApproximateNumberOfMessagesToMove: number;
  readonly FailureReason?: string;
  readonly StartedTimestamp: number;
}

interface OperationShape<Input, Output = Readonly<Record<never, never>>> {
  readonly input: Input;
  readonly output: Output;
}

/** Each operation's input and output, by the name of its SDK command. */
export interface SqsOperations {
  readonly ChangeMessageVisibility: OperationShape<OfQueue & VisibilityChange>;
  readonly ChangeMessageVisibilityBatch: OperationShape<OfQueue & BatchOf<VisibilityChange>, SqsBatchResult>;
  readonly CreateQueue: OperationShape<
    { readonly QueueName: string; readonly Attributes?: Attributes },
    OfQueue
  >;
  readonly DeleteMessage: OperationShape<OfQueue & OfReceipt>;
  readonly DeleteMessageBatch: OperationShape<OfQueue & BatchOf<OfReceipt>, SqsBatchResult>;
  readonly DeleteQueue: OperationShape<OfQueue>;
  readonly GetQueueAttributes: OperationShape<
    OfQueue & { readonly AttributeNames?: readonly string[] },
    { readonly Attributes?: Attributes }
  >;
  readonly GetQueueUrl: OperationShape<{ readonly QueueName: string }, OfQueue>;
  readonly ListMessageMoveTasks: OperationShape<
    { readonly SourceArn: string; readonly MaxResults?: number | undefined },
    { readonly Results: readonly MoveTaskReport[] }
  >;
  readonly ListQueues: OperationShape<
    Page & { readonly QueueNamePrefix?: string | undefined },
    { readonly QueueUrls?: readonly string[]; readonly NextToken?: string }
  >;
  readonly PurgeQueue: OperationShape<OfQueue>;
  readonly ReceiveMessage: OperationShape<
    OfQueue & ReceiveRequest,
    { readonly Messages?: readonly ReceivedMessage[] }
  >;
  readonly SendMessage: OperationShape<OfQueue & SendRequest, SendAnswer>;
  readonly SendMessageBatch: OperationShape<OfQueue & BatchOf<SendRequest>, SqsBatchResult<SendAnswer>>;
  readonly SetQueueAttributes: OperationShape<OfQueue & { readonly Attributes: Attributes }>;
  readonly StartMessageMoveTask: OperationShape<MoveTask, { readonly TaskHandle: string }>;
}

export type SqsOperationName = keyof SqsOperations;
