import type { SQSRecord } from "aws-lambda";
import { idempotentBatch } from "onceonly";
import { describe, expect, it } from "vitest";
import { ENVELOPE_ATTRIBUTE } from "../../../lib/contract.ts";
import { answered, envelope, FIFO, fifoRecord, givenBatch, returned, sqsRecord } from "./given.ts";

/** The keys under which the records run, and what was decided. */
async function keysOf(records: readonly SQSRecord[], key?: (record: SQSRecord) => string | undefined) {
  const { options, context, decisions, errors } = givenBatch();
  const keys: string[] = [];
  const handler = idempotentBatch((_: SQSRecord, { idempotency }) => void keys.push(idempotency.key), {
    ...options,
    key,
  });
  const answer = await answered(handler({ Records: records }, context()));
  const fallbacks = decisions().filter((decision) => decision === "key-fallback").length;
  return { keys, fallbacks, errors, returned: returned(answer) };
}

describe("idempotentBatch", () => {
  it("prefers the key that the function reads to the envelope's", async () => {
    const { keys, fallbacks } = await keysOf([sqsRecord("m1", "order", envelope("sent"))], () => "read");
    expect([keys, fallbacks]).toEqual([["read"], 0]);
  });

  it.each([undefined, null])(
    "H23: returns a record for which the function yields %s, with and without an envelope, and reports it",
    async (none) => {
      const records = [sqsRecord("m1", "order", envelope("sent")), sqsRecord("m2"), fifoRecord("m3", "a")];
      const { options, context, decisions, errors } = givenBatch();
      const handler = idempotentBatch((_: SQSRecord) => expect.unreachable(), {
        ...options,
        key: () => none as undefined,
      });

      const answer = await answered(handler({ Records: records }, context()));

      expect(returned(answer)).toEqual(["m1", "m2", "m3"]);
      expect(decisions()).toEqual(Array(3).fill("key-missing"));
      expect(errors).toEqual(
        Array(3).fill(
          expect.objectContaining({
            code: "IDEMPOTENCY_KEY_MISSING",
            message:
              "no idempotency key: `key` returned none for this record; leave `key` out to use the key in the envelope",
          }),
        ),
      );
    },
  );

  it("does the others of a batch in which the function yields one key", async () => {
    const records = [sqsRecord("m1", "order"), sqsRecord("m2", "no order")];
    const { keys, returned } = await keysOf(records, ({ body }) => (body === "order" ? body : undefined));
    expect([keys, returned]).toEqual([["order"], ["m2"]]);
  });

  it("uses the envelope if `key` is given as undefined", async () => {
    const { keys } = await keysOf([sqsRecord("m1", "order", envelope("sent"))], undefined);
    expect(keys).toEqual(["sent"]);
  });

  it("takes the key that the function reads of a message without an envelope", async () => {
    const { keys, fallbacks } = await keysOf([sqsRecord("m1", "order")], () => "read");
    expect([keys, fallbacks]).toEqual([["read"], 0]);
  });

  it("falls back to the message id, and reports it", async () => {
    const { keys, fallbacks } = await keysOf([sqsRecord("m1")]);
    expect([keys, fallbacks]).toEqual([["m1"], 1]);
  });

  it("falls back to the deduplication id, within its queue and group", async () => {
    const of = (id: string, group: string, arn = FIFO) => ({
      ...fifoRecord(id, group, "same"),
      body: "same",
      eventSourceARN: arn,
    });
    const other = FIFO.replace("payments", "refunds");
    const { keys, fallbacks } = await keysOf([
      of("m1", "a"),
      of("m2", "a"),
      of("m3", "b"),
      of("m4", "a", other),
    ]);

    // m2 is m1 sent again after the five minutes of SQS; the others are other messages.
    expect(new Set(keys).size).toBe(3);
    expect(keys).toHaveLength(3);
    expect(fallbacks).toBe(4);
  });

  it.each(["{", '{"v":99,"key":"order-1"}'])(
    "returns a record whose envelope cannot be read: %s",
    async (text) => {
      const messageAttributes = { [ENVELOPE_ATTRIBUTE]: { stringValue: text, dataType: "String" as const } };
      const { keys, errors, returned } = await keysOf([sqsRecord("m1", "order", { messageAttributes })]);

      expect([keys, returned]).toEqual([[], ["m1"]]);
      expect(errors).toEqual([expect.objectContaining({ code: "IDEMPOTENCY_KEY_INVALID" })]);
    },
  );

  it.each(["", "k".repeat(256)])(
    "returns a record whose key is invalid, instead of falling back",
    async (key) => {
      const { keys, returned } = await keysOf([sqsRecord("m1")], () => key);
      expect([keys, returned]).toEqual([[], ["m1"]]);
    },
  );

  it("keeps the owners of one key apart", async () => {
    const { options, context } = givenBatch();
    const scopes: string[] = [];
    const handler = idempotentBatch((_: SQSRecord, { idempotency }) => void scopes.push(idempotency.scope), {
      ...options,
      key: () => "order-1",
      scope: (record: SQSRecord) => record.body,
    });
    const Records = ["acme", "umbrella", "acme", ""].map((owner, index) => sqsRecord(`m${index}`, owner));

    expect(returned(await answered(handler({ Records }, context())))).toEqual(["m3"]);
    expect(scopes).toEqual(["acme", "umbrella"]);
  });
});
