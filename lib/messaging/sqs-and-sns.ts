/**
 * Messages in the form of SQS and SNS, and the connections to both. Each loads the SDK's package, which only senders need
 * to install.
 */
import type { SNSClient } from "@aws-sdk/client-sns";
import type { SQSClient } from "@aws-sdk/client-sqs";
import { ENVELOPE_ATTRIBUTE } from "../contract.ts";
import { PayloadInvalidError } from "../core/errors.ts";
import { hashTuple } from "../core/identity.ts";
import type { Address } from "../core/messages/address.ts";
import { messageText } from "../core/messages/message-text.ts";
import type { MessageAttributes, StoredMessage } from "../core/messages/outgoing-message.ts";
import { type Enveloped, envelopeContent } from "../core/messages/prepare-message.ts";
import { type AwsClientLike, CLIENT_CONFIG, cannotLoad, RegionalClients } from "./clients.ts";
import { type Entry, type EntryEnd, notSent, type SendEntries, sentAs } from "./destination-queue.ts";

/** An attribute in the form that SQS and SNS share. */
interface AttributeForm {
  readonly DataType: string;
  readonly StringValue: string;
}

/** The fields of a message that SQS and SNS share. */
interface AttributedForm {
  readonly MessageAttributes: Readonly<Record<string, AttributeForm>>;
  /** Required by FIFO; others use the group to share consumers fairly. */
  readonly MessageGroupId?: string;
  /** FIFO only: others refuse it. */
  readonly MessageDeduplicationId?: string;
}

export interface SqsForm extends AttributedForm {
  readonly MessageBody: string;
  readonly DelaySeconds?: number;
}

export interface SnsForm extends AttributedForm {
  readonly Message: string;
}

/**
 * The limit of one message, and of all messages in a request:
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
 */
export const SQS_MAX_BYTES = 1_048_576;

/** Every topic accepts this size; some allow more: https://docs.aws.amazon.com/sns/latest/api/API_PublishBatch.html */
export const SNS_MAX_BYTES = 262_144;

export function sqsEntry(message: StoredMessage, identify: Identify = byKey): Entry<SqsForm> {
  const { queue, body, delaySeconds } = message;
  const delay = delaySeconds === undefined ? {} : { DelaySeconds: delaySeconds };
  return entryOf(body, { MessageBody: body, ...delay, ...attributedForm(queue!, message, identify) });
}

export function snsEntry(message: StoredMessage, identify: Identify = byKey): Entry<SnsForm> {
  const { topic, body } = message;
  return entryOf(body, { Message: body, ...attributedForm(topic!, message, identify) });
}

function entryOf<Form extends AttributedForm>(body: string, form: Form): Entry<Form> {
  const { MessageAttributes, MessageGroupId, MessageDeduplicationId } = form;
  // Names, types and values count, in UTF-8.
  const bytes = Object.entries(MessageAttributes).reduce(
    (sum, [name, { DataType, StringValue }]) => sum + Buffer.byteLength(name + DataType + StringValue),
    Buffer.byteLength(body),
  );
  // Only FIFO guarantees an order. Elsewhere the messages of a group would wait for each other for nothing.
  return { form, bytes, line: MessageDeduplicationId && MessageGroupId };
}

function attributedForm(
  address: string,
  { group, key, body, traceparent, attributes, committedAt }: StoredMessage,
  identify: Identify,
): AttributedForm {
  // The envelope comes last, so that a stored attribute can't replace its key.
  const MessageAttributes = {
    ...attributeForms(attributes),
    ...writeEnvelope({ key, traceparent, committedAt }),
  };
  if (group === undefined) return { MessageAttributes };
  const MessageGroupId = groupIdOf(group);
  if (!address.endsWith(".fifo")) return { MessageAttributes, MessageGroupId };
  const MessageDeduplicationId = identify({ group, key, body, attributes });
  return { MessageAttributes, MessageGroupId, MessageDeduplicationId };
}

function attributeForms(attributes: MessageAttributes = {}): Readonly<Record<string, AttributeForm>> {
  const formOf = (value: string | number) => ({
    DataType: typeof value === "number" ? "Number" : "String",
    StringValue: String(value),
  });
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, formOf(value)]));
}

/** The envelope as a message attribute. */
export function writeEnvelope(envelope: Enveloped) {
  return {
    [ENVELOPE_ATTRIBUTE]: { DataType: "String", StringValue: messageText(envelopeContent(envelope)) },
  };
}

/** Makes the id by which a FIFO destination identifies a message. */
export type Identify = (message: {
  readonly group: string;
  readonly key: string;
  readonly body: string;
  readonly attributes?: MessageAttributes | undefined;
}) => string;

/**
 * The same for every send of one message, and different for each other (group, key) and each deliberate re-send. Some
 * queues deduplicate per group, others don't: with the group in the id, both deliver the same.
 */
export function deduplicationIdOf(group: string, key: string, attempt?: number): string {
  const suffix = attempt === undefined ? [] : [String(attempt)];
  return hashTuple("onceonly/deduplication/1", group, key, ...suffix);
}

export const byKey: Identify = ({ group, key }) => deduplicationIdOf(group, key);

/**
 * For stored messages, which are the same in each send. A different body or attributes under the same key are also
 * delivered, and the consumer refuses them. By key only, the destination would drop them, and they would count as sent.
 */
export const byKeyAndBody: Identify = ({ group, key, body, attributes }) => {
  const more = attributes === undefined ? [] : [JSON.stringify(attributes)];
  return hashTuple("onceonly/deduplication/2", group, key, body, ...more);
};

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
const SQS_ID = /^[!-~]{1,128}$/;

const HASHED_GROUP = "sha256:";

/** The group itself if SQS accepts it, otherwise its hash. No two groups share an id. */
export function groupIdOf(group: string): string {
  if (SQS_ID.test(group) && !group.startsWith(HASHED_GROUP)) return group;
  return HASHED_GROUP + hashTuple("onceonly/group/1", group);
}

/**
 * Core has checked the size of the body with its attributes. That leaves room for the envelope everywhere but in SQS.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`)
 */
export function checkSize(where: string, message: StoredMessage): void {
  if (message.queue === undefined) return;
  const { bytes } = sqsEntry(message);
  if (bytes <= SQS_MAX_BYTES) return;
  throw new PayloadInvalidError(
    `${where}: body and envelope are ${bytes} bytes, but SQS accepts only ${SQS_MAX_BYTES}: store it in a bucket with S3ClaimCheck, or send a link to it`,
  );
}

export async function connectToSqs(
  given: AwsClientLike | undefined,
): Promise<(address: Address) => SendEntries<SqsForm>> {
  const { SendMessageBatchCommand, SQSClient } = await import("@aws-sdk/client-sqs").catch(
    cannotLoad("@aws-sdk/client-sqs"),
  );
  const clients = new RegionalClients<SQSClient>(
    given,
    // By default, the client calls any host that a queue's URL names.
    (config) => new SQSClient({ ...CLIENT_CONFIG, ...(config as object), useQueueUrlAsEndpoint: false }),
  );
  return (address) => async (forms, abortSignal) => {
    const client = await clients.at(address);
    const command = new SendMessageBatchCommand({ QueueUrl: address.text, Entries: withIds(forms) });
    return readAnswer(await client.send(command, { abortSignal }), forms);
  };
}

export async function connectToSns(
  given: AwsClientLike | undefined,
): Promise<(address: Address) => SendEntries<SnsForm>> {
  const { PublishBatchCommand, SNSClient } = await import("@aws-sdk/client-sns").catch(
    cannotLoad("@aws-sdk/client-sns"),
  );
  const clients = new RegionalClients<SNSClient>(
    given,
    (config) => new SNSClient({ ...CLIENT_CONFIG, ...(config as object) }),
  );
  return (address) => async (forms, abortSignal) => {
    const client = await clients.at(address);
    const PublishBatchRequestEntries = withIds(forms);
    const command = new PublishBatchCommand({ TopicArn: address.text, PublishBatchRequestEntries });
    return readAnswer(await client.send(command, { abortSignal }), forms);
  };
}

/** Uses each entry's position in the request as its id. */
function withIds<Form>(forms: readonly Form[]): (Form & { Id: string })[] {
  return forms.map((form, index) => ({ Id: String(index), ...form }));
}

/** The response of SQS and SNS to a batch. */
interface BatchAccepted {
  readonly Successful?:
    | readonly {
        readonly Id?: string | undefined;
        readonly MessageId?: string;
        readonly SequenceNumber?: string;
      }[]
    | undefined;
  readonly Failed?:
    | readonly { readonly Id?: string | undefined; readonly Code?: string; readonly SenderFault?: boolean }[]
    | undefined;
}

function readAnswer({ Successful, Failed }: BatchAccepted, forms: readonly unknown[]): readonly EntryEnd[] {
  return forms.map((_, index) => {
    const id = String(index);
    const sent = Successful?.find(({ Id }) => Id === id);
    if (sent !== undefined) return sentAs(sent.MessageId, sent.SequenceNumber);
    const failed = Failed?.find(({ Id }) => Id === id);
    return notSent(failed?.Code, !failed?.SenderFault);
  });
}
