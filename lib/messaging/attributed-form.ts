/** What SQS and SNS take alike of a message: attributes with the envelope, and the ids of a FIFO destination. Pure. */
import type { MessageAttributes } from "../core/messages/attributes.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { bytesOf } from "./entry.ts";
import { writeEnvelope } from "./envelope.ts";
import { groupIdOf, type Identify } from "./message-ids.ts";

/** As SQS and SNS take them. */
interface AttributeForm {
  readonly DataType: string;
  readonly StringValue: string;
}

function attributeForms(attributes: MessageAttributes = {}): Readonly<Record<string, AttributeForm>> {
  const formOf = (value: string | number) => ({
    DataType: typeof value === "number" ? "Number" : "String",
    StringValue: String(value),
  });
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, formOf(value)]));
}

/** Names, types and values count, in UTF-8. */
function bytesOfForms(forms: Readonly<Record<string, AttributeForm>>): number {
  return Object.entries(forms).reduce(
    (bytes, [name, { DataType, StringValue }]) => bytes + Buffer.byteLength(name + DataType + StringValue),
    0,
  );
}

export interface AttributedForm {
  readonly MessageAttributes: Readonly<Record<string, AttributeForm>>;
  /** Required by FIFO; others use it to share their consumers out fairly. */
  readonly MessageGroupId?: string;
  /** FIFO only: others refuse it. */
  readonly MessageDeduplicationId?: string;
}

export function attributedForm(
  address: string,
  { group, key, body, traceparent, attributes }: StoredMessage,
  identify: Identify,
): AttributedForm {
  // Last: what is stored may be of somebody who would choose the key.
  const MessageAttributes = { ...attributeForms(attributes), ...writeEnvelope({ key, traceparent }) };
  if (group === undefined) return { MessageAttributes };
  const MessageGroupId = groupIdOf(group);
  if (!address.endsWith(".fifo")) return { MessageAttributes, MessageGroupId };
  const MessageDeduplicationId = identify({ group, key, body, attributes });
  return { MessageAttributes, MessageGroupId, MessageDeduplicationId };
}

/** Only FIFO promises an order. Elsewhere a group would make its messages wait for each other to no avail. */
export function lineOf({ MessageGroupId, MessageDeduplicationId }: AttributedForm): string | undefined {
  return MessageDeduplicationId && MessageGroupId;
}

export function attributedBytes(body: string, { MessageAttributes }: AttributedForm): number {
  return bytesOf(body) + bytesOfForms(MessageAttributes);
}
