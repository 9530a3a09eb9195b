// Mistakes with webhooks, with fields that change, and with events of one record.
import {
  fingerprintFromJson,
  type HttpRequestEvent,
  httpIdempotent,
  idempotent,
  keyFromEvent,
  keyFromS3,
  readBody,
} from "onceonly";
import { fakeClock, fakeLambdaContext, MemoryStore } from "onceonly/testing";
import { type Mistake, messageOf } from "../given.ts";

const clock = fakeClock();
const context = () => fakeLambdaContext({ clock });
const options = { operation: "webhook", store: new MemoryStore(), clock };

const post = (body: unknown, key = "k1") =>
  ({
    headers: { "idempotency-key": key },
    requestContext: { http: { method: "POST" } },
    rawPath: "/webhooks",
    body,
  }) as HttpRequestEvent;

/** Two deliveries of one webhook, and the answer to the second. */
async function secondAnswer(leave: string, key: string): Promise<string> {
  const handler = httpIdempotent(async () => ({ statusCode: 200, body: "" }), {
    ...options,
    scope: () => "provider",
    fingerprint: fingerprintFromJson({ leave: [leave] }),
  });
  await handler(post(JSON.stringify({ id: 1, sentAt: 1 }), key), context());
  const answer: { readonly body: string } = await handler(
    post(JSON.stringify({ id: 1, sentAt: 2 }), key),
    context(),
  );
  return (JSON.parse(answer.body) as { readonly detail: string }).detail;
}

export const RECIPE_MISTAKES: readonly Mistake[] = [
  {
    made: "uses both `take` and `leave` in one fingerprint",
    reportedBy: "error",
    text: "`take` or `leave` is required, and only one of them",
    make: () =>
      messageOf(() =>
        // @ts-expect-error The two exclude each other.
        fingerprintFromJson({ take: ["id"], leave: ["sentAt"] }),
      ),
  },
  {
    made: "passes one path instead of an array",
    reportedBy: "error",
    text: "`take` must be an array of paths such as `data.amount` (got a string of 2 characters)",
    make: () => messageOf(() => fingerprintFromJson({ take: "id" as never })),
  },
  {
    made: "takes fields that the payload doesn't have",
    reportedBy: "error",
    text: "the payload has none of the fields that the fingerprint is made of: data.id",
    make: () => messageOf(() => fingerprintFromJson({ take: ["data.id"] })({ id: 1 })),
  },
  {
    made: "misspells a field to leave out",
    reportedBy: "answer",
    text: "this idempotency key was already used with a different payload: use a new key for a new operation",
    make: () => secondAnswer("sendAt", "misspelt"),
  },
  {
    made: "takes fields of a form payload",
    reportedBy: "error",
    text: "the payload isn't JSON: set `of` to a function that returns the part that is",
    make: () => messageOf(() => fingerprintFromJson({ take: ["id"] })(post("id=1&cents=5"))),
  },
  {
    made: "reads the raw body after a body parser",
    reportedBy: "error",
    text: "the body isn't a string: use onceonly before the body parser",
    make: () => messageOf(() => readBody(post({ id: 1 }))),
  },
  {
    made: "passes an S3 event with several records to one call",
    reportedBy: "error",
    text: "the event has 2 records, but a key identifies one: use idempotentBatch with `key: keyFromS3()`, which runs the handler once for each",
    make: () => {
      const object = { key: "a", sequencer: "1" };
      const record = { eventName: "ObjectCreated:Put", s3: { bucket: { name: "b" }, object } };
      const handler = idempotent(() => 1, { ...options, key: keyFromS3() });
      return messageOf(() => handler({ Records: [record, record] }, context()));
    },
  },
  {
    made: "passes a queue message that isn't from S3 to `keyFromS3`",
    reportedBy: "error",
    text: "this isn't an S3 notification",
    make: () => messageOf(() => keyFromS3()({ messageId: "m1", body: "{}" })),
  },
  {
    made: "sends a WebSocket message without an id",
    reportedBy: "error",
    text: "the WebSocket message must have `requestId` (got none)",
    make: () =>
      messageOf(() =>
        keyFromEvent()({ requestContext: { connectionId: "c", eventType: "MESSAGE" }, body: "{}" }),
      ),
  },
];
