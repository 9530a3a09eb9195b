/** Messages as SQS takes them, and the way to it. Loads the SDK's package, which only senders need installed. */
import type { SQSClient } from "@aws-sdk/client-sqs";
import { PayloadInvalidError } from "../core/errors.ts";
import type { Address } from "../core/messages/address.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { type AttributedForm, attributedBytes, attributedForm, lineOf } from "./attributed-form.ts";
import { type AwsClientLike, CLIENT_CONFIG, cannotLoad, RegionalClients } from "./clients.ts";
import { type Entry, type Request, readAnswer, withIds } from "./entry.ts";
import { byKey, type Identify } from "./message-ids.ts";

export interface SqsForm extends AttributedForm {
  readonly MessageBody: string;
  readonly DelaySeconds?: number;
}

/** Of one message, and of all messages of a request together: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html */
export const SQS_MAX_BYTES = 1_048_576;

export function sqsEntry(message: StoredMessage, identify: Identify = byKey): Entry<SqsForm> {
  const { queue, body, delaySeconds } = message;
  const delay = delaySeconds === undefined ? {} : { DelaySeconds: delaySeconds };
  const form = { MessageBody: body, ...delay, ...attributedForm(queue!, message, identify) };
  return { form, bytes: attributedBytes(body, form), line: lineOf(form) };
}

/**
 * Core has checked the size of the body alone, which leaves room for the envelope everywhere but here.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`)
 */
export function checkSize(where: string, message: StoredMessage): void {
  if (message.queue === undefined) return;
  const { bytes } = sqsEntry(message);
  if (bytes <= SQS_MAX_BYTES) return;
  throw new PayloadInvalidError(
    `${where}: body and envelope are ${bytes} bytes, SQS takes ${SQS_MAX_BYTES}: check it in by S3Bodies, or send its address`,
  );
}

export async function connectToSqs(
  given: AwsClientLike | undefined,
): Promise<(address: Address) => Request<SqsForm>> {
  const { SendMessageBatchCommand, SQSClient } = await import("@aws-sdk/client-sqs").catch(
    cannotLoad("@aws-sdk/client-sqs"),
  );
  const clients = new RegionalClients<SQSClient>(
    given,
    // By itself the client asks whatever host the URL of a queue has.
    (config) => new SQSClient({ ...CLIENT_CONFIG, ...(config as object), useQueueUrlAsEndpoint: false }),
  );
  return (address) => async (forms, abortSignal) => {
    const client = await clients.at(address);
    const command = new SendMessageBatchCommand({ QueueUrl: address.text, Entries: withIds(forms) });
    return readAnswer(await client.send(command, { abortSignal }), forms);
  };
}
