// Records as Lambda hands them over, with what the adapters read of them.
import type { SQSRecord } from "aws-lambda";
import { BatchNotDoneError } from "onceonly";
import { writeEnvelope } from "../../../lib/messaging/sqs-and-sns.ts";
import { given } from "../given.ts";

const REGION = "eu-central-1";
const STANDARD = `arn:aws:sqs:${REGION}:123456789012:payments`;
export const FIFO = `${STANDARD}.fifo`;

export function sqsRecord(id: string, body = `body of ${id}`, more: Partial<SQSRecord> = {}): SQSRecord {
  return {
    messageId: id,
    receiptHandle: `receipt of ${id}`,
    body,
    attributes: {
      ApproximateReceiveCount: "1",
      SentTimestamp: "1700000000000",
      SenderId: "AIDAEXAMPLESENDER0001",
      ApproximateFirstReceiveTimestamp: "1700000000000",
    },
    messageAttributes: {},
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: STANDARD,
    awsRegion: REGION,
    ...more,
  };
}

/** Message `id` of a group; its deduplication id is its own. */
export function fifoRecord(id: string, group: string, deduplicationId = `dedup ${id}`): SQSRecord {
  const { attributes } = sqsRecord(id);
  return sqsRecord(id, `body of ${id}`, {
    eventSourceARN: FIFO,
    attributes: { ...attributes, MessageGroupId: group, MessageDeduplicationId: deduplicationId },
  });
}

/** What a producer of ours adds to a message, as Lambda shows it. */
export const envelope = (key: string) => ({
  messageAttributes: Object.fromEntries(
    Object.entries(writeEnvelope({ key })).map(([name, { StringValue }]) => [
      name,
      { stringValue: StringValue, dataType: "String" as const },
    ]),
  ),
});

/** As the adapters have it, with a list of the reported errors. */
export function givenBatch<More extends object>(more?: More) {
  const world = given();
  const errors: unknown[] = [];
  const options = {
    ...world.options,
    operation: "charge-payment",
    onRecordError: (error: unknown) => {
      errors.push(error);
    },
    ...(more as More),
  };
  return { ...world, options, errors };
}

export const returned = (answer: { batchItemFailures: { itemIdentifier: unknown }[] }) =>
  answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);

/** What a batch answers, or would have: where nothing of it is done the same is in the error. */
export async function answered<Answer>(batch: Promise<Answer>): Promise<Answer> {
  try {
    return await batch;
  } catch (error) {
    if (error instanceof BatchNotDoneError) return error as unknown as Answer;
    throw error;
  }
}
