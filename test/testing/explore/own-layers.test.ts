// Negative controls: handlers with an idempotency of their own or of another library, each with one hole in it.
import "./environment.ts";
import { describe } from "vitest";
import { type Control, shop, testControl } from "./control.ts";
import { messages, postOrder } from "./events.ts";
import * as completesBeforeEffect from "./seeded-bugs/completes-before-effect.ts";
import * as deletesRecordOnError from "./seeded-bugs/deletes-record-on-error.ts";
import * as groupOrder from "./seeded-bugs/group-order.ts";
import * as idOfAnotherRun from "./seeded-bugs/id-of-another-run.ts";
import * as lockWithoutLease from "./seeded-bugs/lock-without-lease.ts";
import * as powertools from "./seeded-bugs/powertools.ts";
import * as reportsNoFailures from "./seeded-bugs/reports-no-failures.ts";
import * as swallowsErrors from "./seeded-bugs/swallows-errors.ts";
import * as unawaitedWrite from "./seeded-bugs/unawaited-write.ts";
import * as unboundedRetry from "./seeded-bugs/unbounded-retry.ts";

const controls: readonly Control[] = [
  {
    defect: "a mark that comes before the effect",
    functions: { handler: completesBeforeEffect.handler, mended: completesBeforeEffect.mended },
    event: { id: "order-1" },
    kind: "lost",
    disturbance: "a crash after point 1 (dynamodb PutItem idempotency)",
    what: "no item in orders instead of 1",
  },
  {
    defect: "a record that is deleted on any error",
    functions: { handler: deletesRecordOnError.handler, mended: deletesRecordOnError.mended },
    event: { id: "order-1" },
    kind: "happens-twice",
    disturbance: "nothing but lost answers of point 2 (dynamodb PutItem orders)",
    what: "items in orders instead of 1",
  },
  {
    defect: "an error that is swallowed",
    functions: { handler: swallowsErrors.handler, mended: swallowsErrors.mended },
    event: postOrder(),
    kind: "lost",
    disturbance: "throttling of point 1 (dynamodb PutItem orders)",
    what: "no item in orders instead of 1",
  },
  {
    defect: "a write that nobody awaits",
    functions: { handler: unawaitedWrite.handler, mended: unawaitedWrite.mended },
    event: postOrder(),
    kind: "unawaited",
    disturbance: "a second delivery afterwards",
    what: "dynamodb PutItem orders goes on after the handler has returned",
  },
  {
    defect: "a batch that reports no failures",
    functions: { handler: reportsNoFailures.handler, mended: reportsNoFailures.mended },
    event: messages("shipments", [{ body: { orderId: "a" } }, { body: { orderId: "b" } }]),
    kind: "lost",
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
    disturbance: "throttling of point 1 (dynamodb UpdateItem orders)",
    what: "a record is reported as done although one before it in its group is returned",
  },
  {
    defect: "a lock without a lease",
    functions: { handler: lockWithoutLease.handler, mended: lockWithoutLease.mended },
    event: postOrder(),
    kind: "stuck",
    disturbance: "a crash after point 1 (dynamodb PutItem idempotency)",
    what: 'still "answer 409, Retry-After: 5"',
  },
  {
    defect: "a retry without bound",
    functions: { handler: unboundedRetry.handler, mended: unboundedRetry.mended },
    event: { id: "order-1" },
    kind: "unbounded",
    disturbance: "an outage from point 1 (dynamodb PutItem orders)",
    what: "requests in one invocation",
    options: { timeoutSeconds: 3 },
  },
  {
    defect: "an id of a run that was refused",
    functions: { handler: idOfAnotherRun.handler, mended: idOfAnotherRun.mended },
    event: postOrder(),
    kind: "dangling",
    disturbance: "a crash after point 1 (dynamodb PutItem orders)",
    what: "body.orderId of the answer names what is not in orderId of item orders",
  },
  {
    defect: "a write under Powertools idempotency",
    functions: { handler: powertools.handler, mended: powertools.mended },
    event: { orderId: "order-1" },
    kind: "happens-twice",
    disturbance: "a crash after point 2 (dynamodb PutItem orders)",
    what: "2 items in orders instead of 1",
    options: {
      tables: { ...shop.tables, powertools: { partitionKey: "id", ttl: "expiration" } },
      idempotencyTable: ["idempotency", "powertools"],
    },
  },
];

describe.each(controls)("explore, of $defect", testControl);
