/** A queue as it lives. */
import { parseAddress } from "onceonly/kit";
import { siblingUrl } from "../../queues.ts";
import { TYPES } from "../diagnosed-stack.ts";
import { inTime, type LiveClients } from "./clients.ts";
import { queueProperties, redrivePolicyOf } from "./descriptions.ts";
import { type LiveModel, type LivePlace, look } from "./model.ts";
import { placeOfArn } from "./places.ts";

/** @returns its ARN, and the URL of its dead-letter queue; `undefined` where it was not seen */
export async function describeQueue(
  clients: LiveClients,
  model: LiveModel,
  url: string,
  place: LivePlace,
): Promise<{ readonly arn: string; readonly deadLetters: string | undefined } | undefined> {
  const id = model.idOf(TYPES.queue, place);
  const address = parseAddress("queue", url);
  const endpoint = address?.isLocal ? new URL(url).origin : address?.endpoint;
  const answer = await look("sqs:GetQueueAttributes", async () => {
    const sqs = await clients.of("sqs", place.region, endpoint);
    return sqs.getQueueAttributes({ QueueUrl: url, AttributeNames: ["All"] }, inTime());
  });
  if (answer.is !== "seen") {
    model.without(TYPES.queue, id, answer);
    return undefined;
  }
  const { Attributes = {} } = answer.value;
  const refer = (arn: string) => model.refer(TYPES.queue, placeOfArn(arn));
  model.add(TYPES.queue, id, queueProperties(Attributes, refer));
  const { deadLetterTargetArn: dead } = redrivePolicyOf(Attributes);
  return {
    arn: `${Attributes.QueueArn}`,
    deadLetters: dead === undefined ? undefined : siblingUrl(url, dead),
  };
}
