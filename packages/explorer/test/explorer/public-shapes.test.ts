// Handlers in the shapes of public samples, wrapped by one line each: explored, with the right verdict.
import type { ExploreOptions } from "onceonly-explorer";
import { exactlyOnceMatchers, explore } from "onceonly-explorer";
import Stripe from "stripe";
import { describe, expect, it } from "vitest";
import * as events from "../../../../test/fixtures/samples/events.ts";
import * as frameworks from "../../../../test/fixtures/samples/frameworks.ts";
import * as gateway from "../../../../test/fixtures/samples/gateway.ts";
import { messages } from "../../../../test/kit/shop/events.ts";
import { functionUrlEvent, v1Event, v2Event } from "../../../../test/lambda/http/given.ts";
import { inTier } from "../../../../test/setup/tier.ts";

expect.extend(exactlyOnceMatchers);

/** The types of its events differ from handler to handler; the compiler has checked each where it is wrapped. */
type AnyHandler = (event: never, context: never, callback: never) => unknown;

type Shape = readonly [
  title: string,
  handler: AnyHandler,
  event: object,
  options: ExploreOptions,
  /** What the report finds where the sample itself, with a fresh id or without a key, repeats its effect. */
  finding?: string,
];

const tables = { orders: { partitionKey: "id" } };
const body = JSON.stringify({ id: "order-1", sku: "tea" });
const headers = { "Content-Type": "application/json", "Idempotency-Key": '"key-1"' };
const claims = { claims: { sub: "ann" } };
const v1 = (authorizer: object) => v1Event({ headers, body, authorizer: authorizer as never });
const v2 = v2Event({ headers, body, authorizer: { jwt: claims } });

/** Signed as Stripe signs. */
function webhook() {
  const payload = JSON.stringify({ id: "evt_1", object: "event", type: "payment_intent.succeeded" });
  const secret = gateway.WEBHOOK_SECRET;
  const signature = new Stripe("sk_test_1").webhooks.generateTestHeaderString({ payload, secret });
  return v2Event({ headers: { "Stripe-Signature": signature }, body: payload });
}

const notification = {
  Type: "Notification",
  MessageId: "n1",
  TopicArn: "arn:aws:sns:us-east-1:000000000000:orders",
  Message: body,
  MessageAttributes: {},
};
const upload = {
  eventSource: "aws:s3",
  eventName: "ObjectCreated:Put",
  s3: { bucket: { name: "photos" }, object: { key: "a+cat.png", sequencer: "1", eTag: "e", size: 9 } },
};
const change = {
  eventID: "1",
  eventSource: "aws:dynamodb",
  eventSourceARN: "arn:aws:dynamodb:us-east-1:000000000000:table/source/stream/2026",
  dynamodb: { SequenceNumber: "1", Keys: { id: { S: "o1" } }, NewImage: { id: { S: "o1" } } },
};

const SHAPES: readonly Shape[] = [
  [
    "SAM's first function, which makes an id of its own",
    gateway.samHelloWorld,
    v1({ principalId: "ann" }),
    { tables },
    "2 items in orders instead of 1",
  ],
  ["a class of Powertools", gateway.powertoolsClass, v1({ principalId: "ann" }), { tables }],
  ["an API of SST", gateway.sstApi, v2, { tables }],
  ["a REST API with Cognito", gateway.cognitoRestApi, v1(claims), { tables }],
  ["a REST API with a callback", gateway.authorizedRestApi, v1({ tenant: "acme" }), { tables }],
  ["a webhook of Stripe", gateway.stripeWebhook, webhook(), { tables }],
  [
    "a function URL",
    gateway.functionUrl,
    functionUrlEvent({ headers, body, authorizer: { iam: { userId: "AID1" } } }),
    { tables },
  ],
  ["a stack of Middy", frameworks.middyStack, v1({ principalId: "ann" }), { tables }],
  ["an app of Express", frameworks.expressApp, v2, { tables }],
  ["an app of Hono", frameworks.honoApp, v2, { tables }],
  ["a router of tRPC", frameworks.trpcRouter, v2, { tables }],
  ["an app of Nest", frameworks.nestApp, v2, { tables }],
  [
    "a queue",
    events.queueConsumer,
    messages("work", [{ body: { id: "o1" } }, { body: { id: "o2" } }]),
    { tables },
  ],
  [
    "a rule of EventBridge",
    events.busTarget,
    { id: "e1", source: "shop", "detail-type": "OrderPlaced", detail: { id: "o1" } },
    { tables },
  ],
  [
    "a topic",
    events.topicSubscriber,
    { Records: [{ EventSource: "aws:sns", Sns: notification }] },
    { tables },
  ],
  [
    "thumbnails",
    events.thumbnails,
    { Records: [upload] },
    { buckets: { photos: { "a cat.png": "miaow! miaow!" }, thumbnails: {} } },
  ],
  [
    "a task of Step Functions, whose charge has no key",
    events.stateTask,
    { execution: "x1", cents: 500 },
    {
      parameters: { "/pay/token": "secret" },
      outside: { "https://pay.example": () => Response.json({ id: "c1" }) },
      only: "3 crash-after",
    },
    "2 calls of POST https://pay.example/charges instead of 1",
  ],
  [
    "a resolver of AppSync",
    events.resolver,
    { arguments: { input: { id: "o1" } }, identity: null },
    { tables },
  ],
  ["the stream of a table", events.streamReader, { Records: [change] }, { tables }],
  ["the stream of a table, behind a pipe", events.streamReader, [change], { tables }],
  [
    "a queue behind a pipe",
    events.queueConsumer,
    [{ messageId: "m1", eventSource: "aws:sqs", body, attributes: {}, messageAttributes: {} }],
    { tables },
  ],
];

describe("a handler in the shape of a public sample", () => {
  it.each(SHAPES.map((shape) => [shape[0], shape] as const))(
    "is classified correctly: %s",
    async (_, shape) => {
      const [name, handler, event, options, finding] = shape;
      const report = await explore(handler as never, event, {
        name,
        idempotencyTable: "idempotency",
        timeoutSeconds: 6,
        maxRuns: inTier(20, 2000),
        ...options,
      });

      if (finding === undefined) expect(report).toBeExactlyOnce();
      expect(report.findings.map(({ what }) => what)).toEqual(
        finding === undefined ? [] : expect.arrayContaining([finding]),
      );
      expect(report.points.length).toBeGreaterThan(2);
    },
  );
});
