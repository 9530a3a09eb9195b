/**
 * The model's operations of EventBridge, with the inputs and outputs of the AWS SDK.
 * https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_Operations.html
 */

export interface PutEventsEntry {
  readonly EventBusName?: string | undefined;
  readonly Source?: string | undefined;
  readonly DetailType?: string | undefined;
  readonly Detail?: string | undefined;
  /** Epoch seconds in the protocol; a date in the SDK. */
  readonly Time?: number | Date | undefined;
  readonly Resources?: readonly string[] | undefined;
}

export interface PutEventsResult {
  readonly EventId?: string;
  readonly ErrorCode?: string;
  readonly ErrorMessage?: string;
}

export interface RuleTarget {
  readonly Id: string;
  /** The ARN of a queue, a topic, a function or a bus. */
  readonly Arn: string;
  /** JSON that the target gets in the place of the event. */
  readonly Input?: string | undefined;
  readonly InputPath?: string | undefined;
  readonly InputTransformer?:
    | {
        readonly InputPathsMap?: Readonly<Record<string, string>> | undefined;
        readonly InputTemplate: string;
      }
    | undefined;
  readonly SqsParameters?: { readonly MessageGroupId?: string | undefined } | undefined;
}

/** Each operation's input and output, by the name of its SDK command. */
export interface EventBridgeOperations {
  readonly CreateEventBus: {
    readonly input: { readonly Name: string };
    readonly output: { readonly EventBusArn: string };
  };
  readonly DeleteEventBus: { readonly input: { readonly Name: string }; readonly output: object };
  readonly DescribeEventBus: {
    readonly input: { readonly Name?: string | undefined };
    readonly output: { readonly Name: string; readonly Arn: string };
  };
  readonly PutEvents: {
    readonly input: { readonly Entries: readonly PutEventsEntry[] };
    readonly output: { readonly FailedEntryCount: number; readonly Entries: readonly PutEventsResult[] };
  };
  readonly PutRule: {
    readonly input: {
      readonly Name: string;
      readonly EventBusName?: string | undefined;
      readonly EventPattern: string;
    };
    readonly output: { readonly RuleArn: string };
  };
  readonly PutTargets: {
    readonly input: {
      readonly Rule: string;
      readonly EventBusName?: string | undefined;
      readonly Targets: readonly RuleTarget[];
    };
    readonly output: { readonly FailedEntryCount: number; readonly FailedEntries: readonly object[] };
  };
}

export type EventBridgeOperationName = keyof EventBridgeOperations;
