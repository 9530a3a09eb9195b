/** The result of sending one message. */

/** The destination has accepted the message, either now or (FIFO) when it was sent before. */
export interface SentMessage {
  readonly sent: true;
  readonly messageId: string;
  /** Empty if the destination isn't ordered. */
  readonly sequenceNumber: string;
}

export type SendResult =
  | SentMessage
  /** `code` is the service's code, the client's error name, or `NotAttempted`; `Error` if there is none. */
  | { readonly sent: false; readonly code: string };
