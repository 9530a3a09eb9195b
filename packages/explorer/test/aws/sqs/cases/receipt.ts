/** Receipt handles: deleting, and changing the visibility of what was received. */
import { expect } from "vitest";
import {
  api,
  changeVisibility,
  guide,
  inTime,
  newQueue,
  now,
  receive,
  receiveOne,
  recorded,
  refused,
  remove,
  type SqsCase,
  send,
} from "./case.ts";

const HOUR_MS = 3_600_000;

export const receiptCases: readonly SqsCase[] = [
  now("deleting twice succeeds", recorded("test_delete_message_with_deleted_receipt_handle"), async (sqs) => {
    const QueueUrl = await newQueue(sqs);
    await send(sqs, QueueUrl, "a");
    const message = await receiveOne(sqs, QueueUrl);

    await remove(sqs, QueueUrl, message);
    await remove(sqs, QueueUrl, message);
  }),
  now(
    "what never was a receipt handle is refused",
    recorded("test_delete_message_with_illegal_receipt_handle"),
    async (sqs) => {
      const QueueUrl = await newQueue(sqs);
      const other = await newQueue(sqs);
      await send(sqs, other, "a");
      const { ReceiptHandle } = await receiveOne(sqs, other);

      await refused(
        sqs.call("DeleteMessage", { QueueUrl, ReceiptHandle: "garbage" }),
        "ReceiptHandleIsInvalid",
        /The input receipt handle "garbage" is not a valid receipt handle/,
      );
      await refused(
        sqs.call("ChangeMessageVisibility", { QueueUrl, ReceiptHandle: "garbage", VisibilityTimeout: 0 }),
        "ReceiptHandleIsInvalid",
      );
      await refused(sqs.call("DeleteMessage", { QueueUrl, ReceiptHandle }), "ReceiptHandleIsInvalid");
    },
  ),
  now(
    "the visibility of a deleted message cannot be changed",
    recorded("test_change_visibility_on_deleted_message_raises_invalid_parameter_value"),
    async (sqs) => {
      const QueueUrl = await newQueue(sqs);
      await send(sqs, QueueUrl, "a");
      const message = await receiveOne(sqs, QueueUrl);
      await remove(sqs, QueueUrl, message);

      await refused(
        changeVisibility(sqs, QueueUrl, message, 42),
        "InvalidParameterValue",
        /Message does not exist or is not available for visibility timeout change/,
      );
    },
  ),
  now(
    "visibility timeout 0 puts a message back, once",
    recorded("test_change_message_visibility_not_permanent"),
    async (sqs) => {
      const QueueUrl = await newQueue(sqs);
      await send(sqs, QueueUrl, "a");
      await changeVisibility(sqs, QueueUrl, await receiveOne(sqs, QueueUrl), 0);

      await receiveOne(sqs, QueueUrl);
      expect(await receive(sqs, QueueUrl)).toEqual([]);
    },
  ),
  inTime(
    "a visibility timeout can be prolonged again and again",
    recorded("test_extend_message_visibility_timeout_set_in_queue"),
    async (sqs, clock) => {
      const QueueUrl = await newQueue(sqs, { VisibilityTimeout: "2" });
      await send(sqs, QueueUrl, "a");
      const message = await receiveOne(sqs, QueueUrl);

      for (let second = 0; second < 4; second++) {
        await clock.advance(1000);
        await changeVisibility(sqs, QueueUrl, message, 2);
        expect(await receive(sqs, QueueUrl)).toEqual([]);
      }
      await clock.advance(2000);
      await receiveOne(sqs, QueueUrl);
    },
  ),
  inTime(
    "no message is hidden for more than 12 hours after its receive",
    guide("sqs-visibility-timeout"),
    async (sqs, clock) => {
      const QueueUrl = await newQueue(sqs);
      await send(sqs, QueueUrl, "a");
      const message = await receiveOne(sqs, QueueUrl);
      await refused(changeVisibility(sqs, QueueUrl, message, 43_201), "InvalidParameterValue");
      await changeVisibility(sqs, QueueUrl, message, 43_200);
      await clock.advance(HOUR_MS);

      await refused(
        changeVisibility(sqs, QueueUrl, message, 11 * 3600 + 1),
        "InvalidParameterValue",
        /Total VisibilityTimeout for the message is beyond the limit \[43200 seconds\]/,
      );
      await changeVisibility(sqs, QueueUrl, message, 11 * 3600);
    },
  ),
  inTime(
    "a standard queue deletes by a handle whose visibility timeout is over",
    recorded("test_delete_after_visibility_timeout"),
    async (sqs, clock) => {
      const QueueUrl = await newQueue(sqs, { VisibilityTimeout: "1" });
      await send(sqs, QueueUrl, "a");
      const message = await receiveOne(sqs, QueueUrl);
      await clock.advance(1000);

      await remove(sqs, QueueUrl, message);

      expect(await receive(sqs, QueueUrl)).toEqual([]);
    },
  ),
  inTime(
    "a standard queue accepts the handle of an earlier receive, and deletes nothing",
    api("DeleteMessage"),
    async (sqs, clock) => {
      const QueueUrl = await newQueue(sqs, { VisibilityTimeout: "1" });
      await send(sqs, QueueUrl, "a");
      const first = await receiveOne(sqs, QueueUrl);
      await clock.advance(1000);
      await receiveOne(sqs, QueueUrl);

      await remove(sqs, QueueUrl, first);
      await clock.advance(1000);

      await receiveOne(sqs, QueueUrl);
    },
  ),
  now(
    "a standard queue changes visibility by the handle of an earlier receive",
    recorded("test_terminate_visibility_timeout_after_receive"),
    async (sqs) => {
      const QueueUrl = await newQueue(sqs);
      await send(sqs, QueueUrl, "a");
      const first = await receiveOne(sqs, QueueUrl, { VisibilityTimeout: 0 });
      await receiveOne(sqs, QueueUrl, { VisibilityTimeout: 30 });

      await changeVisibility(sqs, QueueUrl, first, 0);

      await receiveOne(sqs, QueueUrl);
    },
  ),
];
