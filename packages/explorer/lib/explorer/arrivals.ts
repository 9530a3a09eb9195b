/** The messages that arrived in a queue without other receivers. */

import { ENVELOPE_ATTRIBUTE } from "onceonly/kit";
import type { SqsMessageAttributes } from "../aws/sqs/message.ts";
import type { ReceivedMessage } from "../aws/sqs/operations.ts";
import type { SqsModel } from "../aws/sqs/sqs-model.ts";
import type { Effect } from "./effect.ts";
import { type Plain, plainText } from "./plain-value.ts";

export class Arrivals {
  readonly #model: SqsModel;
  readonly #url: string;
  readonly name: string;
  readonly #seen = new Set<string>();
  readonly #effects: Effect[] = [];

  constructor(model: SqsModel, url: string, name: string) {
    this.#model = model;
    this.#url = url;
    this.name = name;
  }

  /**
   * All messages so far, in order, except delayed and in-flight ones. Messages that a consumer treats as the same
   * count once.
   */
  async effects(): Promise<readonly Effect[]> {
    for (;;) {
      const { Messages = [] } = await this.#model.call("ReceiveMessage", {
        QueueUrl: this.#url,
        MaxNumberOfMessages: 10,
        AttributeNames: ["All"],
        MessageAttributeNames: ["All"],
      });
      if (Messages.length === 0) return [...this.#effects];
      for (const message of Messages) {
        this.#note(message);
        const { ReceiptHandle } = message;
        await this.#model.call("DeleteMessage", { QueueUrl: this.#url, ReceiptHandle });
      }
    }
  }

  #note(message: ReceivedMessage): void {
    const identity = identityOf(message);
    if (identity !== undefined && this.#seen.has(identity)) return;
    if (identity !== undefined) this.#seen.add(identity);
    this.#effects.push(messageEffect(message, this.name));
  }
}

/** The consumer's identity of a message: the envelope, or the deduplication id. */
function identityOf({ MessageAttributes, Attributes }: ReceivedMessage): string | undefined {
  const envelope = keyIn(MessageAttributes?.[ENVELOPE_ATTRIBUTE]?.StringValue);
  return envelope ?? Attributes?.MessageDeduplicationId;
}

export function keyIn(envelope: string | undefined): string | undefined {
  const key: unknown = Object(plainText(envelope ?? "")).key;
  return typeof key === "string" ? `key ${key}` : undefined;
}

function messageEffect(message: ReceivedMessage, place: string): Effect {
  return {
    kind: "message",
    place,
    content: {
      body: plainText(message.Body ?? ""),
      group: message.Attributes?.MessageGroupId ?? null,
      attributes: attributeTexts(message.MessageAttributes ?? {}),
    },
  };
}

export function attributeTexts(attributes: SqsMessageAttributes): { [name: string]: Plain } {
  const texts = Object.entries(attributes).map(([name, { StringValue, BinaryValue }]): [string, Plain] => [
    name,
    StringValue === undefined ? Buffer.from(BinaryValue ?? []).toString("base64") : plainText(StringValue),
  ]);
  return Object.fromEntries(texts);
}
