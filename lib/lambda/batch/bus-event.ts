/** The two forms in which a custom event bus delivers an event that has an id. Pure. */

export interface BusEvent {
  /** In an event published with PutEvents, which the transformer `RAW` delivers as it is. */
  readonly id?: string;
  readonly source?: string;
  readonly "detail-type"?: string;
  /** From the transformer `WITH_METADATA`: what was published, and what EventBridge has assigned. */
  readonly Data?: unknown;
  readonly SystemMetadata?: { readonly "aws:EventId": string; readonly EventGroupId?: string } | null;
}

/** https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-custom-bus-addressing.html */
export function isBusEvent(value: unknown): value is BusEvent {
  const { id, source, "detail-type": type, SystemMetadata } = Object(value);
  const { "aws:EventId": assigned } = Object(SystemMetadata);
  return [id, source, type].every((part) => typeof part === "string") || typeof assigned === "string";
}
