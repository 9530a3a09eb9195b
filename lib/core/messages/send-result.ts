/** The result of sending one message. */

/** The destination has accepted the message, now or, if it is FIFO, when it was sent before. */
export interface SentMessage {
  readonly sent: true;
  readonly messageId: string;
  /** Empty where the destination keeps no order. */
  readonly sequenceNumber: string;
}

export type SendResult =
  | SentMessage
  /** `code` is the service's, the client's error name, or `NotAttempted`; `Error` if there's none. */
  | { readonly sent: false; readonly code: string };
