/**
 * The stream's record of a write.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_Record.html
 */
import type { Item } from "../values/attribute-value.ts";

export const STREAM_VIEW_TYPES = ["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"] as const;
export type StreamViewType = (typeof STREAM_VIEW_TYPES)[number];

/** The service that deleted an expired item. */
export interface UserIdentity {
  readonly PrincipalId: string;
  readonly Type: string;
}

export interface StreamRecord {
  readonly eventID: string;
  readonly eventName: "INSERT" | "MODIFY" | "REMOVE";
  readonly eventVersion: string;
  readonly eventSource: string;
  readonly awsRegion: string;
  readonly dynamodb: {
    /** Epoch seconds. */
    readonly ApproximateCreationDateTime: number;
    readonly Keys: Item;
    readonly NewImage?: Item;
    readonly OldImage?: Item;
    readonly SequenceNumber: string;
    readonly SizeBytes: number;
    readonly StreamViewType: StreamViewType;
  };
  readonly userIdentity?: UserIdentity;
}
