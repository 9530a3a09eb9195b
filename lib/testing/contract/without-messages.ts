/** A store without an outbox refuses messages: they would never be sent. */
import assert from "node:assert/strict";
import { type Cases, withCode } from "./given.ts";

const MESSAGE = {
  queue: "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo",
  key: "order/created",
  group: "order",
  body: "{}",
};

export const withoutMessagesCases = <Write>(): Cases<Write> => ({
  "checkEffects refuses messages, which no relay would send": async ({ store }) => {
    assert.throws(() => store.checkEffects({ writes: [], messages: [MESSAGE] }), withCode("COMMIT_INVALID"));
  },
});
