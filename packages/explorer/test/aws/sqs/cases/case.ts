/** One statement about SQS: who says so, and a run that shows it. */
import { expect } from "vitest";
import type { FakeClock } from "../../../../../../lib/testing/fake-clock.ts";
import type {
  ReceivedMessage,
  ReceiveRequest,
  SendRequest,
  SqsBatchResult,
} from "../../../../lib/aws/sqs/operations.ts";
import type { SqsErrorName } from "../../../../lib/aws/sqs/sqs-error.ts";
import type { SqsSubject } from "./subject.ts";

export interface SqsCase {
  readonly title: string;
  /** The page where AWS says it, or the test that recorded it in AWS. */
  readonly source: string;
  /** Needs hours to pass, or minutes. */
  readonly takesTime: boolean;
  readonly run: (subject: SqsSubject) => Promise<void>;
}

const GUIDE = "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide";
const API = "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference";
/** Tests that LocalStack runs against AWS and whose answers it keeps (`aws.validated`). */
const RECORDED = "https://github.com/localstack/localstack/blob/main/tests/aws/services/sqs";

export const guide = (page: string) => `${GUIDE}/${page}.html`;
export const api = (operation: string) => `${API}/API_${operation}.html`;
export const recorded = (test: string, file = "test_sqs.py") => `${RECORDED}/${file}#${test}`;

export function now(title: string, source: string, run: (subject: SqsSubject) => Promise<void>): SqsCase {
  return { title, source, takesTime: false, run };
}

export function inTime(
  title: string,
  source: string,
  run: (subject: SqsSubject, clock: FakeClock) => Promise<void>,
): SqsCase {
  const runWithClock = async (subject: SqsSubject) => {
    if (subject.clock === undefined) throw new Error("this subject cannot pass time");
    await run(subject, subject.clock);
  };
  return { title, source, takesTime: true, run: runWithClock };
}

let queues = 0;

export async function newQueue(
  subject: SqsSubject,
  attributes: Record<string, string> = {},
): Promise<string> {
  const suffix = attributes.FifoQueue === "true" ? ".fifo" : "";
  const QueueName = `queue-${++queues}${suffix}`;
  return (await subject.call("CreateQueue", { QueueName, Attributes: attributes })).QueueUrl;
}

export function newFifo(subject: SqsSubject, attributes: Record<string, string> = {}): Promise<string> {
  return newQueue(subject, { FifoQueue: "true", ...attributes });
}

export function send(subject: SqsSubject, QueueUrl: string, message: string | SendRequest) {
  const outgoing = typeof message === "string" ? { MessageBody: message } : message;
  return subject.call("SendMessage", { QueueUrl, ...outgoing });
}

/** Body and deduplication id are the same text: `g1-m1` is in group `g1`. */
export async function sendToGroups(
  subject: SqsSubject,
  QueueUrl: string,
  ...bodies: string[]
): Promise<void> {
  for (const body of bodies) {
    await send(subject, QueueUrl, {
      MessageBody: body,
      MessageGroupId: body.replace(/-.*$/, ""),
      MessageDeduplicationId: body,
    });
  }
}

export async function receive(
  subject: SqsSubject,
  QueueUrl: string,
  request: ReceiveRequest = {},
): Promise<readonly ReceivedMessage[]> {
  const answer = await subject.call("ReceiveMessage", {
    QueueUrl,
    MaxNumberOfMessages: 10,
    MessageSystemAttributeNames: ["All"],
    MessageAttributeNames: ["All"],
    ...request,
  });
  return answer.Messages ?? [];
}

export async function receiveBodies(
  subject: SqsSubject,
  queueUrl: string,
  request: ReceiveRequest = {},
): Promise<string[]> {
  return (await receive(subject, queueUrl, request)).map(({ Body }) => Body);
}

export async function receiveOne(
  subject: SqsSubject,
  queueUrl: string,
  request: ReceiveRequest = {},
): Promise<ReceivedMessage> {
  const messages = await receive(subject, queueUrl, { MaxNumberOfMessages: 1, ...request });
  expect(messages).toHaveLength(1);
  return messages[0] as ReceivedMessage;
}

export function remove(subject: SqsSubject, QueueUrl: string, { ReceiptHandle }: ReceivedMessage) {
  return subject.call("DeleteMessage", { QueueUrl, ReceiptHandle });
}

export function changeVisibility(
  subject: SqsSubject,
  QueueUrl: string,
  { ReceiptHandle }: ReceivedMessage,
  VisibilityTimeout: number,
) {
  return subject.call("ChangeMessageVisibility", { QueueUrl, ReceiptHandle, VisibilityTimeout });
}

export async function attributesOf(subject: SqsSubject, QueueUrl: string): Promise<Record<string, string>> {
  const answer = await subject.call("GetQueueAttributes", { QueueUrl, AttributeNames: ["All"] });
  return { ...answer.Attributes };
}

export async function arnOf(subject: SqsSubject, queueUrl: string): Promise<string> {
  return (await attributesOf(subject, queueUrl)).QueueArn as string;
}

export async function refused(work: Promise<unknown>, name: SqsErrorName, message?: RegExp): Promise<void> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown as Error,
  );
  expect(error).toMatchObject({ name });
  if (message !== undefined) expect(error?.message).toMatch(message);
}

export function idsOf({ Successful = [], Failed = [] }: SqsBatchResult): {
  done: string[];
  failed: string[];
} {
  return { done: Successful.map(({ Id }) => Id), failed: Failed.map(({ Id }) => Id) };
}

export const text = (StringValue: string) => ({ DataType: "String", StringValue });
