/**
 * The model's operations of SNS, with the inputs and outputs of the AWS SDK.
 * https://docs.aws.amazon.com/sns/latest/api/API_Operations.html
 */
import type { SqsMessageAttributes } from "../sqs/message.ts";
import type { SqsBatchResult } from "../sqs/operations.ts";

export interface PublishedMessage {
  readonly Message: string;
  readonly Subject?: string | undefined;
  readonly MessageAttributes?: SqsMessageAttributes | undefined;
  readonly MessageGroupId?: string | undefined;
  readonly MessageDeduplicationId?: string | undefined;
}

export interface Published {
  readonly MessageId: string;
  readonly SequenceNumber?: string;
}

export interface OfTopic {
  readonly TopicArn: string;
}

type Attributes = Readonly<Record<string, string>>;

/** Each operation's input and output, by the name of its SDK command. */
export interface SnsOperations {
  readonly CreateTopic: {
    readonly input: { readonly Name: string; readonly Attributes?: Attributes | undefined };
    readonly output: OfTopic;
  };
  readonly DeleteTopic: { readonly input: OfTopic; readonly output: object };
  readonly GetTopicAttributes: {
    readonly input: OfTopic;
    readonly output: { readonly Attributes: Attributes };
  };
  readonly Publish: { readonly input: OfTopic & PublishedMessage; readonly output: Published };
  readonly PublishBatch: {
    readonly input: OfTopic & {
      readonly PublishBatchRequestEntries: readonly (PublishedMessage & { readonly Id: string })[];
    };
    readonly output: SqsBatchResult<Published>;
  };
  readonly Subscribe: {
    readonly input: OfTopic & {
      readonly Protocol: string;
      readonly Endpoint: string;
      readonly Attributes?: Attributes | undefined;
    };
    readonly output: { readonly SubscriptionArn: string };
  };
  readonly Unsubscribe: { readonly input: { readonly SubscriptionArn: string }; readonly output: object };
}

export type SnsOperationName = keyof SnsOperations;
