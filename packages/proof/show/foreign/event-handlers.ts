// Handlers of asynchronous events, tasks and schedules, and durable functions.
import type { Effect } from "../../../explorer/lib/explorer/effect.ts";
import type { ExploreOptions } from "../../../explorer/lib/explorer/options.ts";
import { onBus, uploaded } from "./events.ts";
import type { ForeignHandler } from "./foreign-handler.ts";

const byId = (partitionKey: string) => ({ partitionKey });
const queueUrl = (name: string) => `https://sqs.us-east-1.amazonaws.com/000000000000/${name}`;
const payments = (answer: object) => ({ "https://payments.example": () => Response.json(answer) });

/**
 * EventBridge Scheduler as far as names and client tokens go. Not its calls are effects, but its schedules: the SDK repeats a call
 * with its token, which makes no second one.
 */
function scheduler(): ExploreOptions {
  const tokens = new Map<string, unknown>();
  return {
    setUp: () => tokens.clear(),
    effects: () =>
      [...tokens.keys()].map((name): Effect => ({ kind: "item", place: "schedules", content: { name } })),
    atLeastOnce: ["https://scheduler.us-east-1.amazonaws.com"],
    outside: {
      "https://scheduler.us-east-1.amazonaws.com": async (request: Request) => {
        const { ClientToken } = (await request.json()) as { ClientToken?: string };
        const name = new URL(request.url).pathname;
        if (tokens.has(name) && tokens.get(name) !== ClientToken) {
          const headers = { "x-amzn-errortype": "ConflictException" };
          return Response.json({ Message: "the schedule exists" }, { status: 409, headers });
        }
        tokens.set(name, ClientToken);
        return Response.json({
          ScheduleArn: "arn:aws:scheduler:us-east-1:000000000000:schedule/default/r-1",
        });
      },
    },
  };
}

export const EVENT_HANDLERS: readonly ForeignHandler[] = [
  {
    file: "payment-powertools.ts",
    shape: "Powertools idempotency as Middy middleware, TypeScript",
    does: "Creates a payment with `fetch`, under Powertools' record.",
    env: { IDEMPOTENCY_TABLE: "idempotency", PAYMENTS_URL: "https://payments.example" },
    event: { orderId: "o-1", amount: 500 },
    options: {
      tables: { idempotency: byId("id") },
      idempotencyTable: "idempotency",
      outside: payments({ paymentId: "p-1" }),
    },
    right: ["happens-twice"],
    says: "2 calls of POST https://payments.example/payments instead of 1",
    why: "If the function dies after the call and before the record says so, the next attempt pays again. The next handler shows the fix.",
  },
  {
    file: "payment-powertools-keyed.mjs",
    shape: "Powertools `makeIdempotent`, ES module",
    does: "Does the same, and sends the order's id as idempotency key.",
    env: { IDEMPOTENCY_TABLE: "idempotency", PAYMENTS_URL: "https://payments.example" },
    event: { orderId: "o-1", amount: 500 },
    options: {
      tables: { idempotency: byId("id") },
      idempotencyTable: "idempotency",
      outside: payments({ paymentId: "p-1" }),
    },
    right: [],
    why: "Powertools stops most duplicates, and the provider the one that's left.",
  },
  {
    file: "thumbnail.mjs",
    shape: "S3 event, ES module",
    does: "Reads an image, and stores a smaller one under the same key.",
    env: { THUMBNAILS_BUCKET: "thumbnails" },
    event: uploaded("photos", "a+cat.png"),
    options: { buckets: { photos: { "a cat.png": "miaow! miaow!" }, thumbnails: {} } },
    right: [],
    why: "A repetition stores the same bytes under the same key.",
  },
  {
    file: "csv-import.cjs",
    shape: "S3 event, `DynamoDBDocument`, CommonJS",
    does: "Stores each line of a file as an item, and counts them.",
    env: { PRODUCTS_TABLE: "products", IMPORTS_TABLE: "imports" },
    event: uploaded("imports", "prices.csv"),
    options: {
      tables: { products: byId("sku"), imports: byId("file") },
      buckets: { imports: { "prices.csv": "sku,price\ntea,3\nmilk,2\n" } },
    },
    right: ["happens-twice"],
    says: "in an item in imports",
    why: "The items are the same each time, but the count goes on from where the last attempt died.",
  },
  {
    file: "event-request-id.ts",
    shape: "EventBridge rule, `awsRequestId` as key, TypeScript",
    does: "Gives a new user a credit, once per request id.",
    env: { CREDITS_TABLE: "credits" },
    event: onBus("SignedUp", { userId: "ann" }),
    options: { tables: { credits: byId("creditId") } },
    right: ["happens-twice"],
    says: "2 items in credits instead of 1",
    why: "Lambda's two retries keep the request id. A delivery by EventBridge itself, or a redrive from a dead-letter queue, has another one.",
    fix: "the key is the event's own `id`",
  },
  {
    file: "event-dedupe-late.mjs",
    shape: "EventBridge rule, a table of processed events, ES module",
    does: "Looks whether it has seen the event, publishes an alert, then remembers the event.",
    env: { PROCESSED_TABLE: "processed", ALERTS_TOPIC: "arn:aws:sns:us-east-1:000000000000:alerts" },
    event: onBus("DiskFull", { host: "db-1" }),
    options: { tables: { processed: byId("eventId") }, topics: { alerts: {} } },
    right: ["happens-twice"],
    says: "2 messages in alerts instead of 1",
    why: "A crash between the alert and the mark repeats the alert, and two deliveries at the same time both find nothing.",
  },
  {
    file: "appsync-resolver.mjs",
    shape: "AppSync resolver, ES module",
    does: "Creates a post under a new UUID.",
    env: { POSTS_TABLE: "posts" },
    event: {
      info: { fieldName: "createPost" },
      arguments: { input: { title: "Tea" } },
      identity: { sub: "ann" },
    },
    options: { tables: { posts: byId("id") } },
    right: ["happens-twice", "answer-differs"],
    says: "2 items in posts instead of 1",
    why: "Each call gets an id of its own.",
  },
  {
    file: "user-confirmed.cjs",
    shape: "Cognito trigger, CommonJS",
    does: "Creates a profile when a user has confirmed the address.",
    env: { PROFILES_TABLE: "profiles" },
    event: {
      triggerSource: "PostConfirmation_ConfirmSignUp",
      request: { userAttributes: { sub: "ann", email: "ann@example.com" } },
      response: {},
    },
    options: { tables: { profiles: byId("sub") } },
    right: [],
    why: "The user's `sub` is the key, so a repetition writes the same profile. Once users can change theirs, it would be reset.",
  },
  {
    file: "event-publisher.mjs",
    shape: "EventBridge publisher, ES module",
    does: "Puts an event on a bus.",
    env: { EVENT_BUS: "shop" },
    event: onBus("OrderPlaced", { orderId: "o-1", lines: ["tea"] }),
    options: { buses: { shop: {} } },
    right: ["happens-twice"],
    says: "2 messages in shop instead of 1",
    why: "`PutEvents` has no deduplication. Consumers must recognize the order's id.",
  },
  {
    file: "reminder-schedule.mjs",
    shape: "EventBridge Scheduler, ES module",
    does: "Creates a schedule that's named after the reminder.",
    env: {
      TARGET_ARN: "arn:aws:lambda:us-east-1:000000000000:function:remind",
      ROLE_ARN: "arn:aws:iam::000000000000:role/r",
    },
    event: { reminderId: "r-1", at: "2026-02-01T09:00:00" },
    options: scheduler(),
    right: ["stuck"],
    says: "ConflictException",
    why: "The name prevents a second schedule. But a retry gets a `ConflictException`, which the handler reports as a failure until its event is dropped. Scheduler isn't simulated; a stand-in in `outside` answers.",
  },
  {
    file: "task-charge-keyed.mjs",
    shape: "Step Functions task, `fetch`, ES module",
    does: "Charges with the execution's id as idempotency key.",
    env: { PAYMENTS_URL: "https://payments.example" },
    event: { executionId: "x-1", customerId: "ann", amount: 500 },
    options: { outside: payments({ chargeId: "ch_1" }) },
    right: [],
    why: "Each attempt of the task sends the same key.",
  },
  {
    file: "task-refund.cjs",
    shape: "Step Functions task, axios and SSM, CommonJS",
    does: "Refunds a charge.",
    env: { TOKEN_PARAMETER: "/payments/token", PAYMENTS_URL: "https://payments.example" },
    event: { chargeId: "ch_1", amount: 500 },
    options: { parameters: { "/payments/token": "secret" }, outside: payments({ refundId: "re_1" }) },
    right: ["happens-twice"],
    says: "2 calls of POST https://payments.example/v1/refunds instead of 1",
    why: "Step Functions retries a task, and the provider can't know that it's the same refund.",
  },
  {
    file: "task-invoke-lambda.cjs",
    shape: "Lambda invoking Lambda, CommonJS",
    does: "Starts another function asynchronously.",
    env: { INVOICE_FUNCTION: "make-invoice" },
    event: { orderId: "o-1", amount: 500 },
    options: {
      outside: { "https://lambda.us-east-1.amazonaws.com": () => new Response("", { status: 202 }) },
    },
    right: ["happens-twice"],
    says: "2 calls of POST https://lambda.us-east-1.amazonaws.com",
    why: "An asynchronous invocation has no key. A stand-in in `outside` answers for Lambda.",
  },
  {
    file: "task-metrics.mjs",
    shape: "CloudWatch metrics, ES module",
    does: "Puts a metric.",
    event: { orderId: "o-1", amount: 500 },
    options: {
      outside: {
        "https://monitoring.us-east-1.amazonaws.com": () =>
          new Response("", { headers: { "smithy-protocol": "rpc-v2-cbor" } }),
      },
      atLeastOnce: ["https://monitoring.us-east-1.amazonaws.com"],
    },
    right: [],
    why: "A metric can be counted twice, which `atLeastOnce` accepts. A stand-in in `outside` answers for CloudWatch.",
  },
  {
    file: "report-daily.mjs",
    shape: "EventBridge schedule, DynamoDB scan and S3, ES module",
    does: "Adds up the sales, and stores the report under the day.",
    env: { SALES_TABLE: "sales", REPORTS_BUCKET: "reports" },
    event: onBus("Scheduled Event", {}),
    options: {
      tables: { sales: byId("id") },
      buckets: { reports: {} },
      setUp: (aws) =>
        aws.dynamodb.call("PutItem", { TableName: "sales", Item: { id: { S: "s-1" }, amount: { N: "7" } } }),
    },
    right: ["happens-twice"],
    says: "2 objects in reports instead of 1",
    why: "The clock is part of the key. A retry after midnight makes the report of another day.",
    fix: "the day comes from the event's `time`",
  },
  {
    file: "durable-order.ts",
    shape: "Durable function with plain steps, TypeScript",
    does: "Charges, waits half an hour, and queues the shipment.",
    env: { SHIPPING_QUEUE: queueUrl("shipping") },
    event: { orderId: "o-1", amount: 500 },
    options: {
      source: "durable",
      queues: { shipping: {} },
      outside: payments({ chargeId: "ch_1" }),
    },
    right: ["happens-twice"],
    says: "2 calls of POST https://payments.example/charges instead of 1",
    why: "A step runs again if the function dies before its checkpoint, and a second event starts a second execution.",
  },
  {
    file: "durable-order-keyed.ts",
    shape: "Durable function whose steps repeat safely, TypeScript",
    does: "Subscribes under a key, waits for a day, and stores the account.",
    env: { ACCOUNTS_TABLE: "accounts" },
    event: { customerId: "ann", plan: "gold" },
    options: {
      source: "durable",
      tables: { accounts: byId("customerId") },
      outside: payments({ subscriptionId: "sub_1" }),
    },
    right: [],
    why: "The provider gets the same key each time, and the item is the same.",
  },
];
