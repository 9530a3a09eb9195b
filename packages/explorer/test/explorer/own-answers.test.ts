// Negative controls: what an attempt answers that recorded nothing, with a store that forgets one rule of the protocol.
import "../../../../test/kit/shop/environment.ts";
import { describe } from "vitest";
import { postOrder } from "../../../../test/kit/shop/events.ts";
import * as asksNobody from "./seeded-bugs/asks-nobody.ts";
import { type Control, testControl } from "./seeded-bugs/control.ts";
import * as lateCopy from "./seeded-bugs/late-copy.ts";
import * as lateOwnAnswer from "./seeded-bugs/late-own-answer.ts";

const controls: readonly Control[] = [
  {
    defect: "an optimistic attempt that records nothing and asks nobody",
    functions: { handler: asksNobody.handler, mended: asksNobody.mended },
    event: postOrder(),
    kind: "answer-differs",
    id: "duplicate-afterwards",
    disturbance: "a second delivery afterwards",
    what: "status 201, then 422",
  },
  {
    defect: "a late worker that does not learn that it lost",
    functions: { handler: lateOwnAnswer.handler, mended: lateOwnAnswer.mended },
    event: postOrder(),
    kind: "answer-differs",
    id: "2 duplicate-before",
    disturbance: "a duplicate before point 2 (dynamodb GetItem orders)",
    what: "422",
  },
  {
    defect: "a refused commit whose first try is still under way",
    functions: { handler: lateCopy.handler, mended: lateCopy.mended },
    event: postOrder(),
    kind: "differs",
    id: "2 late-copy",
    disturbance: "a late copy of point 2 (dynamodb TransactWriteItems idempotency+orders)",
    what: "orders is 1 instead of absent",
    // The stock comes and goes with the handler's own answers: only what arrives late is judged.
    options: { only: "2 late-copy", expectedStatus: 422 },
  },
];

describe.each(controls)("$defect", testControl);
