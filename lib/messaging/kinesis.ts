/** Records for a Kinesis stream. They have no attributes, so the envelope is a field of the data. Pure. */
import { ENVELOPE_ATTRIBUTE } from "../contract.ts";
import { PayloadInvalidError } from "../core/errors.ts";
import { isPlainObject } from "../core/json.ts";
import { bodyText, messageText } from "../core/messages/message-text.ts";
import type { MessageContent } from "../core/messages/outgoing-message.ts";
import { checkFields, checkId, envelopeContent } from "../core/messages/prepare-message.ts";

/** A message for a Kinesis stream. */
export interface KinesisMessage extends MessageContent {
  /** Messages of a group stay in order, because they go to one shard: 1 to 255 characters. @default - the key */
  readonly group?: string | undefined;
  /** An object that JSON represents faithfully. The envelope is added to it, as the field `OnceonlyEnvelope`. */
  readonly body: object;
}

/** An entry of `PutRecords`, and most of a `PutRecord` request. */
export interface KinesisRecord {
  readonly PartitionKey: string;
  readonly Data: Uint8Array;
}

/**
 * The record that carries a message with its envelope, for your own Kinesis client: `client.send(new PutRecordCommand({
 * StreamARN, ...kinesisRecord({ key, body }) }))`. `PutRecords` can fail for some of its records: put those again with the same
 * key, and their effect happens once. The consumer believes the envelope if `trustedForwarders` of `idempotentBatch` has the
 * stream's ARN.
 * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) for an unusable key or group; PayloadInvalidError (`PAYLOAD_INVALID`)
 * for a body that isn't such an object
 */
export function kinesisRecord(message: KinesisMessage): KinesisRecord {
  const where = "the message";
  if (Object(message) !== message) throw new PayloadInvalidError(`${where}: must be an object`);
  checkFields(where, message, ["key", "group", "body", "traceparent"]);
  const { key, group = key, body, traceparent } = message;
  checkId(where, "key", key);
  checkId(where, "group", group);
  if (!isPlainObject(body))
    throw new PayloadInvalidError(`${where}: the body must be an object, to which the envelope is added`);
  const data = {
    ...JSON.parse(bodyText(where, body)),
    [ENVELOPE_ATTRIBUTE]: envelopeContent({ key, traceparent }),
  };
  return { PartitionKey: group, Data: Buffer.from(messageText(data)) };
}
