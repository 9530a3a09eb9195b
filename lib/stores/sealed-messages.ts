/** Messages that wait in an outbox, sealed: all but where they go, their group and their trace context. */
import { hashTuple } from "../core/identity.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { ownerOf, type Sealer } from "./sealer.ts";

/**
 * A field that senders do not know. One without the keys takes the message for one of a later version, and does not send it.
 */
type SealedMessage = StoredMessage & { readonly sealed: string };

/** The part of a message that only its destination may see. */
type Content = Pick<StoredMessage, "key" | "body" | "attributes">;

/** Base64 takes a third more. The rest is the stored key, at most 1,000 bytes of it, and what authenticates. */
const sealedBytes = (bytes: number): number => Math.ceil((bytes + 64) * 1.34) + 1500;

export const isSealedMessage = (message: StoredMessage): message is SealedMessage =>
  typeof (message as Partial<SealedMessage>).sealed === "string";

export class SealedMessages {
  readonly #sealer: Sealer;
  /** A request that is repeated writes the same texts. */
  readonly #sealing = new WeakMap<StoredMessage, Promise<StoredMessage>>();

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  /** Messages as large as these can become. */
  largest(messages: readonly StoredMessage[]): readonly StoredMessage[] {
    return messages.map((message) => {
      const bytes = Buffer.byteLength(JSON.stringify(contentOf(message)));
      return outsideOf(message, "", "x".repeat(sealedBytes(bytes)));
    });
  }

  async seal(recordKey: string, messages: readonly StoredMessage[]): Promise<readonly StoredMessage[]> {
    return Promise.all(messages.map((message, index) => this.#sealOnce(recordKey, message, index)));
  }

  /** Messages whose key is gone, or that were changed, stay sealed: nobody sends them. @throws StoreUnavailableError */
  async open(recordKey: string, messages: readonly StoredMessage[]): Promise<readonly StoredMessage[]> {
    return Promise.all(messages.map((message, index) => this.#open(recordKey, message, index)));
  }

  #sealOnce(recordKey: string, message: StoredMessage, index: number): Promise<StoredMessage> {
    const known = this.#sealing.get(message);
    if (known) return known;
    const sealing = this.#seal(recordKey, message, index);
    this.#sealing.set(message, sealing);
    sealing.catch(() => this.#sealing.delete(message));
    return sealing;
  }

  async #seal(recordKey: string, message: StoredMessage, index: number): Promise<StoredMessage> {
    const sealed = await this.#sealer.seal(JSON.stringify(contentOf(message)), placeOf(recordKey, index));
    // Messages without an order are spread over the shards of the outbox by their keys.
    return outsideOf(message, hashTuple(recordKey, message.key), sealed);
  }

  async #open(recordKey: string, message: StoredMessage, index: number): Promise<StoredMessage> {
    if (!isSealedMessage(message)) return message;
    const { sealed, ...outside } = message;
    try {
      const content: Content = JSON.parse(await this.#sealer.open(sealed, placeOf(recordKey, index)));
      return { ...outside, ...content } as StoredMessage;
    } catch (error) {
      if (isFinal(error)) return message;
      throw error;
    }
  }
}

const isFinal = (error: unknown): boolean => {
  const { code } = Object(error) as { readonly code?: unknown };
  return code === "RECORD_CORRUPT" || code === "RESULT_NOT_KEPT";
};

function placeOf(recordKey: string, index: number) {
  return { context: ownerOf(recordKey), place: JSON.stringify([recordKey, "message", index]) };
}

const contentOf = ({ key, body, attributes }: StoredMessage): Content => ({
  key,
  body,
  ...(attributes && { attributes }),
});

/** The body is an event, as a bus asks for it. */
function outsideOf({ attributes: _, ...message }: StoredMessage, key: string, sealed: string): StoredMessage {
  const outside: object = { ...message, key, body: "{}", sealed };
  return outside as StoredMessage;
}
