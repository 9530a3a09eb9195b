/** Sends batches that are written as an id with a body, or with a message. */
import type { SendRequest } from "../../../../lib/aws/sqs/operations.ts";
import type { SqsSubject } from "./subject.ts";

export function sendBatch(sqs: SqsSubject, QueueUrl: string, entries: Record<string, string | SendRequest>) {
  const Entries = Object.entries(entries).map(([Id, message]) => ({
    Id,
    ...(typeof message === "string" ? { MessageBody: message } : message),
  }));
  return sqs.call("SendMessageBatch", { QueueUrl, Entries });
}

/** `e0`, `e1` and so on. */
export const numbered = (count: number, body = "x") =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`e${index}`, body]));
