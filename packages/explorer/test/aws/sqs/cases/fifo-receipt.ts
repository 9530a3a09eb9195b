/** Receipt handles of FIFO queues, which expire. */
import { expect } from "vitest";
import {
  changeVisibility,
  inTime,
  newFifo,
  now,
  receive,
  receiveOne,
  recorded,
  refused,
  remove,
  type SqsCase,
  sendToGroups,
} from "./case.ts";

export const fifoReceiptCases: readonly SqsCase[] = [
  inTime(
    "a FIFO queue refuses a handle whose visibility timeout is over",
    recorded("test_fifo_delete_after_visibility_timeout"),
    async (sqs, clock) => {
      const QueueUrl = await newFifo(sqs, { VisibilityTimeout: "1" });
      await sendToGroups(sqs, QueueUrl, "g-1");
      const message = await receiveOne(sqs, QueueUrl);
      await clock.advance(1000);

      await refused(
        remove(sqs, QueueUrl, message),
        "InvalidParameterValue",
        /The receipt handle has expired/,
      );
      await refused(changeVisibility(sqs, QueueUrl, message, 5), "InvalidParameterValue", /has expired/);
      await receiveOne(sqs, QueueUrl);
      await refused(remove(sqs, QueueUrl, message), "InvalidParameterValue", /has expired/);
    },
  ),
  now(
    "a FIFO queue refuses a handle that hides nothing",
    "https://github.com/aws/aws-sdk-js/issues/1750",
    async (sqs) => {
      const QueueUrl = await newFifo(sqs);
      await sendToGroups(sqs, QueueUrl, "g-1");
      const first = await receiveOne(sqs, QueueUrl, { VisibilityTimeout: 0 });
      await refused(remove(sqs, QueueUrl, first), "InvalidParameterValue", /has expired/);

      const second = await receiveOne(sqs, QueueUrl);
      await refused(remove(sqs, QueueUrl, first), "InvalidParameterValue", /has expired/);
      await remove(sqs, QueueUrl, second);
    },
  ),
  inTime(
    "a FIFO queue deletes by a handle whose visibility timeout was prolonged",
    recorded("test_fifo_delete_after_visibility_timeout_extended"),
    async (sqs, clock) => {
      const QueueUrl = await newFifo(sqs, { VisibilityTimeout: "1" });
      await sendToGroups(sqs, QueueUrl, "g-1");
      const message = await receiveOne(sqs, QueueUrl);
      await changeVisibility(sqs, QueueUrl, message, 5);
      await clock.advance(1500);

      await remove(sqs, QueueUrl, message);
      await clock.advance(5000);

      expect(await receive(sqs, QueueUrl)).toEqual([]);
    },
  ),
];
