// Explorations that would be green although nothing was explored.
import { httpIdempotent } from "onceonly";
import { MemoryStore } from "onceonly/testing";
import { explore } from "onceonly-explorer";
import { postOrder } from "../../kit/shop/events.ts";
import type { Mistake } from "../given.ts";
import { messageOf } from "../given.ts";

const shop = { tables: { orders: { partitionKey: "id" } }, idempotencyTable: "idempotency" };
const http = { operation: "create-order", store: new MemoryStore(), scope: "public" } as const;
const creating = httpIdempotent(async () => ({ statusCode: 201 }), http);
const rest = { httpMethod: "POST", path: "/orders", headers: {}, requestContext: {} };

export const EXPLORER_MISTAKES: readonly Mistake[] = [
  {
    made: "explores an event without the key that the handler requires",
    reportedBy: "error",
    text: "responds with 400 without any disturbance, so its work wouldn't be explored",
    make: () => messageOf(() => explore(creating, postOrder({}, { "idempotency-key": undefined }), shop)),
  },
  {
    made: "explores a route that the handler doesn't have",
    reportedBy: "error",
    text: "to explore this response, set expectedStatus: 404",
    make: () => messageOf(() => explore(async () => ({ statusCode: 404 }), postOrder(), shop)),
  },
  {
    made: "explores a handler with an in-memory store",
    reportedBy: "error",
    text: "makes no request without any disturbance, so there is nothing to explore",
    make: () => messageOf(() => explore(creating, postOrder(), shop)),
  },
  {
    made: "explores a handler that responds with another status than expected",
    reportedBy: "error",
    text: "responds with 201 without any disturbance, instead of the expected 200",
    make: () => messageOf(() => explore(creating, postOrder(), { ...shop, expectedStatus: 200 })),
  },
  {
    made: "passes the expected status as a string",
    reportedBy: "error",
    text: "`expectedStatus` must be a status from 200 to 599",
    make: () => messageOf(() => explore(creating, postOrder(), { ...shop, expectedStatus: "201" as never })),
  },
  {
    made: "returns no `statusCode` to a REST API",
    reportedBy: "error",
    text: 'fails without any disturbance: answer 502: "the handler returned no statusCode"',
    make: () => messageOf(() => explore(async () => ({ ok: true }), rest, shop)),
  },
  {
    made: "returns `batchItemFailures` to a source that doesn't read them",
    reportedBy: "error",
    text: "reports failed records without any disturbance, but its source doesn't read them",
    make: () => {
      const batchItemFailures = [{ itemIdentifier: "1" }];
      const event = { Records: [{ eventSource: "aws:sqs", body: "{}" }] };
      return messageOf(() =>
        explore(async () => ({ batchItemFailures }), event, { ...shop, reportsItemFailures: false }),
      );
    },
  },
];
