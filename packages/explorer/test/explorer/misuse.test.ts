// Negative controls: handlers that use onceonly wrongly, in one way each.
import "../../../../test/kit/shop/environment.ts";
import { describe } from "vitest";
import { postOrder } from "../../../../test/kit/shop/events.ts";
import { relayed } from "../../../../test/kit/shop/relay-and-sweeper.ts";
import * as afterHook from "./seeded-bugs/after-hook.ts";
import * as answerBesideResult from "./seeded-bugs/answer-beside-result.ts";
import * as callWithoutKey from "./seeded-bugs/call-without-key.ts";
import { type Control, created, gateway, putRow, testControl } from "./seeded-bugs/control.ts";
import * as counterBeforeCommit from "./seeded-bugs/counter-before-commit.ts";
import * as keyFromRequestId from "./seeded-bugs/key-from-request-id.ts";
import * as otherRequestUnderKey from "./seeded-bugs/other-request-under-key.ts";
import * as sendsDirectly from "./seeded-bugs/sends-directly.ts";
import * as stepOfThree from "./seeded-bugs/step-of-three.ts";
import * as writeOutsideCommit from "./seeded-bugs/write-outside-commit.ts";

const controls: readonly Control[] = [
  {
    defect: "a write outside the commit",
    functions: { handler: writeOutsideCommit.handler, mended: writeOutsideCommit.mended },
    event: postOrder(),
    kind: "happens-twice",
    id: "2 crash-after",
    disturbance: "a crash after point 2 (dynamodb PutItem orders)",
    what: "2 items in orders instead of 1",
  },
  {
    defect: "an outside call without a key",
    functions: { handler: callWithoutKey.handler, mended: callWithoutKey.mended },
    event: { orderId: "order-1", cents: 500 },
    kind: "happens-twice",
    id: "2 crash-after",
    disturbance: "a crash after point 2 (http POST https://gateway.example.com/charges)",
    what: "2 calls of POST https://gateway.example.com/charges instead of 1",
    options: { outside: gateway },
  },
  {
    defect: "a counter that moves before the commit",
    functions: { handler: counterBeforeCommit.handler, mended: counterBeforeCommit.mended },
    event: postOrder(),
    kind: "happens-twice",
    id: "2 crash-after",
    disturbance: "a crash after point 2 (dynamodb UpdateItem orders)",
    what: "pieces is 6 instead of 8 in an item in orders",
    options: { setUp: putRow({ tenant: "acme", id: "stock", pieces: 10 }) },
  },
  {
    defect: "an effect in a hook after the commit",
    functions: { handler: afterHook.handler, mended: afterHook.mended },
    event: { id: "order-1" },
    kind: "happens-twice",
    id: "duplicate-afterwards",
    disturbance: "a second delivery afterwards",
    what: "orders is 2 instead of 1 in an item in orders",
  },
  {
    defect: "a message sent beside the commit",
    functions: { handler: sendsDirectly.handler, mended: sendsDirectly.mended },
    event: postOrder(),
    kind: "happens-twice",
    id: "2 crash-after",
    disturbance: "a crash after point 2 (sqs SendMessage mails)",
    what: "2 messages in mails instead of 1",
    options: { queues: { mails: {} }, setUp: relayed },
  },
  {
    defect: "a key that is the request id",
    functions: { handler: keyFromRequestId.handler, mended: keyFromRequestId.mended },
    event: { orderId: "order-1", cents: 500 },
    kind: "happens-twice",
    id: "duplicate-afterwards",
    disturbance: "a second delivery afterwards",
    what: "refundedCents is 1000 instead of 500 in an item in orders",
    options: { setUp: putRow({ tenant: "acme", id: "order-1", refundedCents: 0 }) },
  },
  {
    defect: "an answer made beside the stored result",
    functions: { handler: answerBesideResult.handler, mended: answerBesideResult.mended },
    event: postOrder(),
    kind: "answer-differs",
    id: "duplicate-afterwards",
    disturbance: "a second delivery afterwards",
    what: "body.receipt",
  },
  {
    defect: "another request under the same child key",
    functions: { handler: otherRequestUnderKey.handler, mended: otherRequestUnderKey.mended },
    event: { orderId: "order-1", placedAt: "2026-01-05T08:59:00Z" },
    kind: "key-reused",
    id: "2 crash-after",
    disturbance: "a crash after point 2 (http POST https://gateway.example.com/charges)",
    what: "POST https://gateway.example.com/charges received two different requests under one key",
    options: { outside: gateway },
  },
  {
    defect: "H60: the second of three effects without a key",
    functions: { handler: stepOfThree.handler, mended: stepOfThree.mended },
    event: { userId: "user-1" },
    kind: "happens-twice",
    id: "3 crash-after",
    disturbance: "a crash after point 3 (http POST https://mail.example.com/send)",
    what: "2 calls of POST https://mail.example.com/send instead of 1",
    options: { outside: { ...gateway, "https://mail.example.com": created } },
  },
];

describe.each(controls)("explore, of $defect", testControl);
