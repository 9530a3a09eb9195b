/** Messages as SNS takes them, and the way to it. Loads the SDK's package, which only senders need installed. */
import type { SNSClient } from "@aws-sdk/client-sns";
import type { Address } from "../core/messages/address.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { type AttributedForm, attributedBytes, attributedForm, lineOf } from "./attributed-form.ts";
import { type AwsClientLike, CLIENT_CONFIG, cannotLoad, RegionalClients } from "./clients.ts";
import { type Entry, type Request, readAnswer, withIds } from "./entry.ts";
import { byKey, type Identify } from "./message-ids.ts";

export interface SnsForm extends AttributedForm {
  readonly Message: string;
}

/** What every topic takes; some are set to more: https://docs.aws.amazon.com/sns/latest/api/API_PublishBatch.html */
export const SNS_MAX_BYTES = 262_144;

export function snsEntry(message: StoredMessage, identify: Identify = byKey): Entry<SnsForm> {
  const { topic, body } = message;
  const form = { Message: body, ...attributedForm(topic!, message, identify) };
  return { form, bytes: attributedBytes(body, form), line: lineOf(form) };
}

export async function connectToSns(
  given: AwsClientLike | undefined,
): Promise<(address: Address) => Request<SnsForm>> {
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
