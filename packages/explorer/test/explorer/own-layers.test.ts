// Negative controls: handlers with an idempotency of their own or of another library, each with one hole in it.
import "../../../../test/kit/shop/environment.ts";
import { describe } from "vitest";
import { messages, postOrder } from "../../../../test/kit/shop/events.ts";
import * as completesBeforeEffect from "./seeded-bugs/completes-before-effect.ts";
import { type Control, shop, testControl } from "./seeded-bugs/control.ts";
import * as dayInKey from "./seeded-bugs/day-in-key.ts";
import * as deletesRecordOnError from "./seeded-bugs/deletes-record-on-error.ts";
import * as groupOrder from "./seeded-bugs/group-order.ts";
import * as idOfAnotherRun from "./seeded-bugs/id-of-another-run.ts";
import * as lockWithoutLease from "./seeded-bugs/lock-without-lease.ts";
import * as powertools from "./seeded-bugs/powertools.ts";
import * as receiptAsId from "./seeded-bugs/receipt-as-id.ts";
import * as refusesRepetition from "./seeded-bugs/refuses-repetition.ts";
import * as reportsNoFailures from "./seeded-bugs/reports-no-failures.ts";
import * as requestToken from "./seeded-bugs/request-token.ts";
import * as staleCheck from "./seeded-bugs/stale-check.ts";
import * as swallowsErrors from "./seeded-bugs/swallows-errors.ts";
import * as unawaitedWrite from "./seeded-bugs/unawaited-write.ts";
import * as unboundedRetry from "./seeded-bugs/unbounded-retry.ts";

const controls: readonly Control[] = [
  {
    defect: "a mark that comes before the effect",
    functions: { handler: completesBeforeEffect.handler, mended: completesBeforeEffect.mended },
    event: { id: "order-1" },
    kind: "lost",
    id: "1 crash-after",
    disturbance: "a crash after point 1 (dynamodb PutItem idempotency)",
    what: "no item in orders instead of 1",
  },
  {
    defect: "a record that is deleted on any error",
    functions: { handler: deletesRecordOnError.handler, mended: deletesRecordOnError.mended },
    event: { id: "order-1" },
    kind: "happens-twice",
    id: "2 lost-answers",
    disturbance: "only lost responses from point 2 (dynamodb PutItem orders)",
    what: "items in orders instead of 1",
  },
  {
    defect: "an error that is swallowed",
    functions: { handler: swallowsErrors.handler, mended: swallowsErrors.mended },
    event: postOrder(),
    kind: "lost",
    id: "1 throttle",
    disturbance: "throttling of point 1 (dynamodb PutItem orders)",
    what: "no item in orders instead of 1",
  },
  {
    defect: "a write that nobody awaits",
    functions: { handler: unawaitedWrite.handler, mended: unawaitedWrite.mended },
    event: postOrder(),
    kind: "unawaited",
    id: "duplicate-afterwards",
    disturbance: "a second delivery afterwards",
    what: "dynamodb PutItem orders is still running after the handler returned",
  },
  {
    defect: "a batch that reports no failures",
    functions: { handler: reportsNoFailures.handler, mended: reportsNoFailures.mended },
    event: messages("shipments", [{ body: { orderId: "a" } }, { body: { orderId: "b" } }]),
    kind: "lost",
    id: "1 throttle",
    disturbance: "throttling of point 1 (dynamodb PutItem orders)",
    what: "1 item in orders instead of 2",
  },
  {
    defect: "a FIFO group that goes on behind a failure",
    functions: { handler: groupOrder.handler, mended: groupOrder.mended },
    event: messages("states.fifo", [
      { body: { orderId: "a", state: "paid" }, group: "a" },
      { body: { orderId: "a", state: "sent" }, group: "a" },
    ]),
    kind: "order",
    id: "1 throttle",
    disturbance: "throttling of point 1 (dynamodb UpdateItem orders)",
    what: "a record is reported as done although an earlier one of its group was returned",
  },
  {
    defect: "a lock without a lease",
    functions: { handler: lockWithoutLease.handler, mended: lockWithoutLease.mended },
    event: postOrder(),
    kind: "stuck",
    id: "1 crash-after",
    disturbance: "a crash after point 1 (dynamodb PutItem idempotency)",
    what: 'still ends with "answer 409, Retry-After: 5"',
  },
  {
    defect: "a retry without bound",
    functions: { handler: unboundedRetry.handler, mended: unboundedRetry.mended },
    event: { id: "order-1" },
    kind: "unbounded",
    id: "1 outage",
    disturbance: "an outage from point 1 (dynamodb PutItem orders)",
    what: "requests in one invocation",
    options: { timeoutSeconds: 3 },
  },
  {
    defect: "an id of a run that was refused",
    functions: { handler: idOfAnotherRun.handler, mended: idOfAnotherRun.mended },
    event: postOrder(),
    kind: "dangling",
    id: "1 crash-after",
    disturbance: "a crash after point 1 (dynamodb PutItem orders)",
    what: "body.orderId of the answer refers to something that isn't in orderId of item orders",
  },
  {
    defect: "a day in the key",
    functions: { handler: dayInKey.handler, mended: dayInKey.mended },
    event: postOrder(),
    kind: "happens-twice",
    id: "1 crash-after",
    disturbance: "a crash after point 1 (dynamodb PutItem orders)",
    what: "2 items in orders instead of 1",
  },
  {
    defect: "a token that is forgotten after 10 minutes",
    functions: { handler: requestToken.handler, mended: requestToken.mended },
    event: postOrder(),
    kind: "happens-twice",
    id: "duplicate-afterwards",
    disturbance: "a second delivery afterwards",
    what: "visits is 2 instead of 1 in an item in orders",
  },
  {
    defect: "a batch answer that names receipts",
    functions: { handler: receiptAsId.handler, mended: receiptAsId.mended },
    event: messages("shipments", [{ body: { orderId: "a" } }, { body: { orderId: "b" } }]),
    kind: "misreported",
    id: "1 throttle",
    disturbance: "throttling of point 1 (dynamodb PutItem orders)",
    what: "batchItemFailures names records that aren't in the batch",
  },
  {
    defect: "a refusal of who asks again",
    functions: { handler: refusesRepetition.handler, mended: refusesRepetition.mended },
    event: postOrder(),
    kind: "stuck",
    id: "1 crash-after",
    disturbance: "a crash after point 1 (dynamodb PutItem orders)",
    what: 'still ends with "answer 409"',
  },
  {
    defect: "a check that reads too old",
    functions: { handler: staleCheck.handler, mended: staleCheck.mended },
    event: { id: "order-1" },
    kind: "happens-twice",
    id: "duplicate-right-after",
    disturbance: "a second delivery right after the first",
    what: "orders is 2 instead of 1 in an item in orders",
  },
  {
    defect: "a write under Powertools idempotency",
    functions: { handler: powertools.handler, mended: powertools.mended },
    event: { orderId: "order-1" },
    kind: "happens-twice",
    id: "2 crash-after",
    disturbance: "a crash after point 2 (dynamodb PutItem orders)",
    what: "2 items in orders instead of 1",
    options: {
      tables: { ...shop.tables, powertools: { partitionKey: "id", ttl: "expiration" } },
      idempotencyTable: ["idempotency", "powertools"],
    },
  },
];

describe.each(controls)("explore, of $defect", testControl);
