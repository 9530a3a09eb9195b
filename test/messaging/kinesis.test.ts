// Records for Kinesis, as a consumer on Lambda reads them.
import type { KinesisStreamEvent } from "aws-lambda";
import { idempotentBatch } from "onceonly";
import { type KinesisMessage, kinesisRecord } from "onceonly/messaging";
import { MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";

const STREAM = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders";
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const paid: KinesisMessage = { key: "order-7/paid", group: "7", body: { cents: 700 }, traceparent };

/** The record as Lambda passes it, after a put that got this sequence number. */
const put = (message: KinesisMessage, sequenceNumber: string) =>
  ({
    eventSource: "aws:kinesis",
    eventSourceARN: STREAM,
    eventID: `shardId-000000000000:${sequenceNumber}`,
    kinesis: { sequenceNumber, data: Buffer.from(kinesisRecord(message).Data).toString("base64") },
  }) as KinesisStreamEvent["Records"][number];

function newConsumer(trustedForwarders?: string[]) {
  const ran: unknown[] = [];
  const errors: unknown[] = [];
  const handler = idempotentBatch(
    async ({ kinesis: { data } }: KinesisStreamEvent["Records"][number], { idempotency }) => {
      const { cents } = JSON.parse(Buffer.from(data, "base64").toString());
      ran.push([idempotency.key, cents, idempotency.traceparent]);
    },
    {
      operation: "pay-order",
      store: new MemoryStore(),
      leaseSeconds: 60,
      ...(trustedForwarders && { trustedForwarders }),
      onRecordError: (error) => errors.push(error),
    },
  );
  return { handler, ran, errors };
}

describe("kinesisRecord", () => {
  it("R6: gives a record that is put twice one effect, by its key, and groups choose the shard", async () => {
    const { handler, ran } = newConsumer([STREAM]);
    const records = [
      put(paid, "1"),
      put({ ...paid, traceparent: undefined }, "2"),
      put({ ...paid, key: "b" }, "3"),
    ];

    expect(await handler({ Records: records } as KinesisStreamEvent, {} as never)).toEqual({
      batchItemFailures: [],
    });

    expect(ran).toEqual([
      ["order-7/paid", 700, traceparent],
      ["b", 700, traceparent],
    ]);
    expect(kinesisRecord(paid).PartitionKey).toBe("7");
    expect(kinesisRecord({ key: "k", body: {} }).PartitionKey).toBe("k");
  });

  it.each<[string, KinesisMessage, string[] | undefined, string]>([
    ["another body under the same key", { ...paid, body: { cents: 1 } }, [STREAM], "FINGERPRINT_MISMATCH"],
    ["any, if the consumer doesn't trust the stream", paid, undefined, "IDEMPOTENCY_KEY_INVALID"],
  ])("R6: a consumer returns %s", async (_, message, trusted, code) => {
    const { handler, errors } = newConsumer(trusted);
    await handler({ Records: [put(paid, "1"), put(message, "2")] } as KinesisStreamEvent, {} as never).catch(
      () => {},
    );

    expect(errors.at(-1)).toMatchObject({ code });
  });

  it.each<[string, unknown]>([
    ["must be an object", undefined],
    ["the key is missing", { ...paid, key: "" }],
    ["the group must be a string", { ...paid, group: 7 }],
    ["the body must be an object", { ...paid, body: "paid" }],
    ["the body must be an object", { ...paid, body: [1] }],
    ["can't send the body", { ...paid, body: { at: new Date(0) } }],
    ["`attributes` isn't a field", { ...paid, attributes: {} }],
  ])("refuses a message: %s", (why, message) => {
    expect(() => kinesisRecord(message as KinesisMessage)).toThrow(`the message: ${why}`);
  });
});
