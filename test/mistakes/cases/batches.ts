import { idempotentBatch } from "onceonly";
import { fakeClock, fakeLambdaContext, MemoryStore } from "onceonly/testing";
import { SOURCE_LIST } from "../../../lib/lambda/batch/read-event.ts";
import type { Mistake } from "../given.ts";
import { logOf, messageOf } from "../given.ts";

interface OrderRecord {
  readonly messageId: string;
  readonly body: string;
}

const given = { operation: "charge", store: new MemoryStore() };
const record = (messageId: string, body = "{}") => ({ messageId, body, eventSource: "aws:sqs" });
const context = () => fakeLambdaContext({ clock: fakeClock() });
const Records = [record("m1")];

/** What a batch of one record logs, with the handler of the user. */
const messageFrom = (
  options: object,
  handler: (record: OrderRecord) => unknown = () => {},
  event = { Records },
) =>
  logOf("error", () => idempotentBatch(handler, { ...given, ...options })(event, context()).catch(() => {}));

/** Records of queues and streams, and how their consumer reads them. */
export const BATCH_MISTAKES: readonly Mistake[] = [
  {
    made: "reads a record's key from a field that the record doesn't have",
    reportedBy: "log",
    text: "no idempotency key: `key` returned none for this record; leave `key` out to use the key in the envelope",
    make: () => messageFrom({ key: ({ body }: OrderRecord) => JSON.parse(body).orderId }),
  },
  {
    made: "passes a batch an async `key`",
    reportedBy: "log",
    text: "got a promise; keys aren't awaited, so the function must return the string itself",
    make: () => messageFrom({ key: async ({ body }: OrderRecord) => body }),
  },
  {
    made: "throws in the handler of one record",
    reportedBy: "log",
    text: 'onceonly: record m1 failed (operation "charge"):',
    make: () => messageFrom({}, () => Promise.reject(new Error("no such card"))),
  },
  {
    made: "throws for every record",
    reportedBy: "error",
    text: "0 of 1 records succeeded (0 in progress elsewhere); the first failure is record m1.",
    make: () =>
      messageOf(() =>
        idempotentBatch(() => Promise.reject(new Error("no")), { ...given, onRecordError: () => {} })(
          { Records: [record("m1")] },
          context(),
        ),
      ),
  },
  {
    made: "invokes a batch handler with an API Gateway event",
    reportedBy: "error",
    text: `the event is not a batch: idempotentBatch reads ${SOURCE_LIST}. If it contains several records, call \`runOnce\` for each one`,
    make: () => messageOf(() => idempotentBatch(() => {}, given)({ body: "{}" } as never, context())),
  },
  {
    made: "invokes a batch handler with S3 notifications",
    reportedBy: "error",
    text: `the event is of aws:s3: idempotentBatch reads ${SOURCE_LIST}. If it contains several records, call \`runOnce\` for each one`,
    make: () =>
      messageOf(() =>
        idempotentBatch(() => {}, given)({ Records: [{ eventSource: "aws:s3" }] } as never, context()),
      ),
  },
];
