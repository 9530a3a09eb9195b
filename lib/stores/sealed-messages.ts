/** Sealed messages in an outbox: everything except their destination, group and trace context. */
import { hashTuple } from "../core/identity.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { ownerOf, type Sealer } from "./sealer.ts";

/**
 * A field that other senders don't know. A sender without the keys treats the message as one of a later version, and doesn't
 * send it.
 */
type SealedMessage = StoredMessage & { readonly sealed: string };

/** The part of a message that only its destination may see. */
type Content = Pick<StoredMessage, "key" | "body" | "attributes">;

/** Base64 adds a third. The rest is the stored key, at most 1,000 bytes, and the authentication data. */
const sealedBytes = (bytes: number): number => Math.ceil((bytes + 64) * 1.34) + 1500;

export const isSealedMessage = (message: StoredMessage): message is SealedMessage =>
  typeof (message as Partial<SealedMessage>).sealed === "string";

export class SealedMessages {
  readonly #sealer: Sealer;
  /** A repeated request writes the same texts. */
  readonly #sealing = new WeakMap<StoredMessage, Promise<StoredMessage>>();

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  /** The messages at their largest possible size. */
  largest(messages: readonly StoredMessage[]): readonly StoredMessage[] {
    return messages.map((message) => {
      const bytes = Buffer.byteLength(JSON.stringify(contentOf(message)));
      return outsideOf(message, "", "x".repeat(sealedBytes(bytes)));
    });
  }

  async seal(recordKey: string, messages: readonly StoredMessage[]): Promise<readonly StoredMessage[]> {
    return Promise.all(messages.map((message, index) => this.#sealOnce(recordKey, message, index)));
  }

  /** Messages that were changed, or whose key is gone, stay sealed and are not sent. @throws StoreUnavailableError */
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
    // The keys of unordered messages spread them over the outbox shards.
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

/** The body is an event, as an event bus requires. */
function outsideOf({ attributes: _, ...message }: StoredMessage, key: string, sealed: string): StoredMessage {
  const outside: object = { ...message, key, body: "{}", sealed };
  return outside as StoredMessage;
}
