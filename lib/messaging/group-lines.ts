/** Messages that wait to be sent, in one line for each group. Only the head of a line may go: that keeps the order. Pure. */
import { bytesOf, MAX_BYTES, type PreparedMessage } from "./fifo-message.ts";

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html */
const MAX_ENTRIES = 10;

/** A message and its position among those that were given. */
export interface Waiting {
  readonly position: number;
  readonly message: PreparedMessage;
}

export class GroupLines {
  readonly #lines = new Map<string, Waiting[]>();

  constructor(messages: readonly PreparedMessage[]) {
    for (const [position, message] of messages.entries()) {
      const line = this.#lines.get(message.MessageGroupId);
      if (line === undefined) this.#lines.set(message.MessageGroupId, [{ position, message }]);
      else line.push({ position, message });
    }
  }

  /**
   * The heads that fit into one request; empty when nobody waits. One of each group at most: SQS may accept the second
   * of two entries and refuse the first.
   */
  heads(): Waiting[] {
    const heads: Waiting[] = [];
    let bytes = 0;
    for (const [head] of this.#lines.values()) {
      bytes += bytesOf(head!.message);
      if (heads.length === MAX_ENTRIES || bytes > MAX_BYTES) break;
      heads.push(head!);
    }
    return heads;
  }

  /** The head has been sent: the next of its group may go. */
  advance({ message: { MessageGroupId } }: Waiting): void {
    const line = this.#lines.get(MessageGroupId)!;
    line.shift();
    if (line.length === 0) this.#lines.delete(MessageGroupId);
  }

  /** Nobody of this group is sent any more. */
  stop({ message: { MessageGroupId } }: Waiting): void {
    this.#lines.delete(MessageGroupId);
  }
}
