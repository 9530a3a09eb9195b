import type { MSKEvent, MSKRecord } from "aws-lambda";
import { idempotentBatch } from "onceonly";
import { describe, expect, it } from "vitest";
import { ENVELOPE_ATTRIBUTE } from "../../../lib/contract.ts";
import { writeEnvelope } from "../../../lib/messaging/sqs-and-sns.ts";
import { answered, givenBatch, returned } from "./given.ts";

function kafkaEvent(places: readonly (readonly [partition: number, offset: number])[]): MSKEvent {
  const records: Record<string, MSKRecord[]> = {};
  for (const [partition, offset] of places) {
    const record = {
      topic: "orders",
      partition,
      offset,
      timestamp: 1_700_000_000_000,
      timestampType: "CREATE_TIME" as const,
      key: "",
      value: Buffer.from(`${partition}/${offset}`).toString("base64"),
      headers: [],
    };
    records[`orders-${partition}`] = [...(records[`orders-${partition}`] ?? []), record];
  }
  const eventSourceArn = "arn:aws:kafka:eu-central-1:123456789012:cluster/orders/1-2";
  return { eventSource: "aws:kafka", eventSourceArn, bootstrapServers: "b-1:9092", records };
}

/** A batch handler for which each record has the same key; `run` gives it one record with `fields` and a value. */
function underOneKey(fields: object) {
  const { options, context, errors } = givenBatch({ reportBatchItemFailures: true });
  const values: unknown[] = [];
  const handler = idempotentBatch((record: MSKRecord) => void values.push(record.value), {
    ...options,
    key: () => "one",
  });
  const [record] = Object.values(kafkaEvent([[0, 1]]).records).flat();
  const run = async (value: unknown) => {
    const event = { records: { "orders-0": [{ ...record, ...fields, value } as MSKRecord] } };
    return returned(await answered(handler(event, context())));
  };
  return { run, values, errors };
}

const place = ({ partition, offset }: MSKRecord) => `${partition}/${offset}`;

describe("idempotentBatch on Kafka", () => {
  const event = kafkaEvent([
    [0, 10],
    [0, 11],
    [0, 12],
    [1, 10],
    [1, 11],
  ]);

  it("stops a partition at its first failure, and returns partition and offset of the rest", async () => {
    const { options, context } = givenBatch({ reportBatchItemFailures: true });
    const runs: string[] = [];
    let fails = true;
    const handler = idempotentBatch((record: MSKRecord) => {
      runs.push(place(record));
      if (fails && place(record) === "0/11") throw new Error("no");
    }, options);

    const first = await handler(event, context());
    fails = false;
    const second = await handler(event, context());

    expect(returned(first)).toEqual([
      { partition: "orders-0", offset: 11 },
      { partition: "orders-0", offset: 12 },
    ]);
    expect(second).toEqual({ batchItemFailures: [] });
    expect(runs.sort()).toEqual(["0/10", "0/11", "0/11", "0/12", "1/10", "1/11"]);
  });

  it("H95: F1: throws for a partly failed batch, which is redelivered whole, if the response may not be read", async () => {
    for (const setting of [{}, { reportBatchItemFailures: false }]) {
      const { options, context, errors } = givenBatch(setting);
      const runs: string[] = [];
      let fails = true;
      const handler = idempotentBatch((record: MSKRecord) => {
        runs.push(place(record));
        if (fails && place(record) === "0/11") throw new Error("no");
      }, options);

      const thrown = await handler(event, context()).catch((error: unknown) => error);
      fails = false;
      const second = await handler(event, context());

      expect(thrown).toMatchObject({
        code: "BATCH_NOT_DONE",
        retryable: true,
        message: expect.stringMatching(
          /^3 of 5 records succeeded .*record orders-0 at offset 11.*`reportBatchItemFailures: true` on idempotentBatch$/,
        ),
        batchItemFailures: [11, 12].map((offset) => ({ itemIdentifier: { partition: "orders-0", offset } })),
      });
      expect(errors).toEqual([new Error("no")]);
      expect(second).toEqual({ batchItemFailures: [] });
      expect(runs.sort()).toEqual(["0/10", "0/11", "0/11", "0/12", "1/10", "1/11"]);
    }
  });

  it("H95: F1: throws for records of a self-managed cluster that there was no time for", async () => {
    const { options, context, clock } = givenBatch();
    const { eventSourceArn: _, ...selfManaged } = event;
    const handler = idempotentBatch(() => clock.sleep(20_000), { ...options, concurrency: 1 });
    const answer = handler({ ...selfManaged, eventSource: "SelfManagedKafka" } as never, context());

    await expect(clock.run(answer)).rejects.toThrow(/^[1-4] of 5 records succeeded/);
  });

  it("R6: runs a record of a share group once, whatever order and gaps its partition comes in", async () => {
    const { options, context } = givenBatch({ reportBatchItemFailures: true });
    const runs: string[] = [];
    const fails = new Set(["0/12"]);
    const handler = idempotentBatch((record: MSKRecord) => {
      runs.push(place(record));
      if (fails.delete(place(record))) throw new Error("no");
    }, options);
    const deliver = async (...offsets: number[]) =>
      returned(await answered(handler(kafkaEvent(offsets.map((offset) => [0, offset])), context())));
    // Another poller has 11 and 13 meanwhile; the broker then redelivers what was returned, in other batches.
    const first = await deliver(10, 12, 14);
    const others = [await deliver(11, 13), await deliver(14), await deliver(12, 14), await deliver(10)];

    expect(first).toEqual([
      { partition: "orders-0", offset: 12 },
      { partition: "orders-0", offset: 14 },
    ]);
    expect(others).toEqual([[], [], [], []]);
    expect(runs).toEqual(["0/10", "0/12", "0/11", "0/13", "0/14", "0/12"]);
  });

  it("runs partitions concurrently, and the records of one in order", async () => {
    const { options, context, clock } = givenBatch();
    const ended: string[] = [];
    const handler = idempotentBatch(async (record: MSKRecord) => {
      await clock.sleep(record.partition === 0 ? 2000 : 100);
      ended.push(place(record));
    }, options);
    await clock.run(handler(event, context()));

    expect(ended).toEqual(["1/10", "1/11", "0/10", "0/11", "0/12"]);
  });

  it("keeps equal offsets of partitions, topics and clusters apart, and reports that it fell back to them", async () => {
    const { options, context, decisions } = givenBatch();
    const runs: string[] = [];
    const handler = idempotentBatch((record: MSKRecord) => void runs.push(place(record)), options);
    const same = kafkaEvent([[0, 1]]);
    const [record] = Object.values(same.records).flat() as [MSKRecord];
    await handler(same, context());
    await handler(kafkaEvent([[1, 1]]), context());
    await handler({ records: { "refunds-0": [{ ...record, topic: "refunds" }] } }, context());
    await handler({ ...same, eventSourceArn: "another" } as MSKEvent, context());
    await handler(same, context());

    expect(runs).toEqual(["0/1", "1/1", "0/1", "0/1"]);
    expect(decisions().filter((decision) => decision === "key-fallback")).toHaveLength(5);
  });

  it("keeps a record of a recreated topic apart from the previous one at its offset", async () => {
    const { options, context } = givenBatch();
    const keys: string[] = [];
    const handler = idempotentBatch(
      (_: MSKRecord, { idempotency }) => void keys.push(idempotency.key),
      options,
    );
    const event = kafkaEvent([[0, 1]]);
    const [record] = Object.values(event.records).flat() as [MSKRecord];

    for (const timestamp of [record.timestamp, record.timestamp + 1, record.timestamp]) {
      await handler({ records: { "orders-0": [{ ...record, timestamp }] } }, context());
    }

    expect(new Set(keys).size).toBe(2);
    expect(keys).toHaveLength(2);
  });

  it("accepts records without a value", async () => {
    const { options, context } = givenBatch();
    const { value: _, ...record } = Object.values(kafkaEvent([[0, 1]]).records).flat()[0] as MSKRecord;

    expect(
      await idempotentBatch(() => {}, options)({ records: { "orders-0": [record] } }, context()),
    ).toEqual({
      batchItemFailures: [],
    });
  });

  it("A10: distinguishes an empty value from a tombstone, under one key", async () => {
    const { run, values, errors } = underOneKey({});

    expect(await run(null)).toEqual([]);
    expect(await run(undefined)).toEqual([]);
    expect(await run("")).toHaveLength(1);
    expect(values).toEqual([null]);
    expect(errors).toEqual([expect.objectContaining({ code: "FINGERPRINT_MISMATCH" })]);
  });

  it("A10: accepts a record without headers (null), and values that a schema registry has decoded", async () => {
    const { run, values, errors } = underOneKey({ headers: null });

    expect(await run({ cents: 5, id: "a", length: 3 })).toEqual([]);
    expect(await run({ id: "a", length: 3, cents: 5 })).toEqual([]);
    expect(await run({ cents: 6, id: "a", length: 3 })).toHaveLength(1);
    expect(values).toEqual([{ cents: 5, id: "a", length: 3 }]);
    expect(errors).toEqual([expect.objectContaining({ code: "FINGERPRINT_MISMATCH" })]);
  });

  it("rejects a batch with a record that has no offset", async () => {
    const { options, context } = givenBatch();
    const { offset: _, ...record } = Object.values(kafkaEvent([[0, 1]]).records).flat()[0] as MSKRecord;

    await expect(
      idempotentBatch(() => {}, options)({ records: { "orders-0": [record] } }, context()),
    ).rejects.toThrow("without an identifier");
  });

  describe("with headers", () => {
    const bytesOf = (text: string) => [...Buffer.from(text)];
    const envelopeOf = (key: string) => writeEnvelope({ key })[ENVELOPE_ATTRIBUTE]!.StringValue;
    const header = (value: unknown) => ({ [ENVELOPE_ATTRIBUTE]: value }) as Record<string, number[]>;

    async function outcomeOf(...headers: readonly Record<string, number[]>[][]) {
      const { options, context, decisions, errors } = givenBatch({ reportBatchItemFailures: true });
      const keys: string[] = [];
      const event = kafkaEvent(headers.map((_, index) => [index, 1]));
      for (const [index, [record]] of Object.values(event.records).entries()) {
        Object.assign(record!, { headers: headers[index], value: "same" });
      }
      const handler = idempotentBatch((_: MSKRecord, { idempotency }) => void keys.push(idempotency.key), {
        ...options,
        concurrency: 1,
      });
      const answer = await answered(handler(event, context()));
      const fallbacks = decisions().filter((decision) => decision === "key-fallback").length;
      return { keys, fallbacks, returned: returned(answer).length, errors };
    }

    it("uses the envelope's key, also from signed bytes, and runs it once in all partitions", async () => {
      const bytes = bytesOf(envelopeOf("größe-7"));
      const signed = bytes.map((byte) => (byte > 127 ? byte - 256 : byte));

      const headers = [{ traced: bytesOf("a") }, header(bytes)];
      expect(await outcomeOf(headers, [header(signed)])).toMatchObject({
        keys: ["größe-7"],
        fallbacks: 0,
        returned: 0,
      });
    });

    it("uses the last of several envelopes, as Kafka's clients do", async () => {
      const headers = ["first", "last"].map((key) => header(bytesOf(envelopeOf(key))));

      expect((await outcomeOf(headers)).keys).toEqual(["last"]);
    });

    it("falls back if none of them is an envelope, and reports it", async () => {
      expect(await outcomeOf([{ traced: bytesOf("a") }], [])).toMatchObject({ fallbacks: 2, returned: 0 });
    });

    it.each([[[]], [bytesOf("{")], [bytesOf('{"v":2,"key":"a"}')], [7], ["text"], [{}]])(
      "returns a record whose envelope cannot be read (%j)",
      async (value) => {
        const { keys, errors, returned } = await outcomeOf([header(value)]);

        expect([keys, returned]).toEqual([[], 1]);
        expect(errors).toEqual([expect.objectContaining({ code: "IDEMPOTENCY_KEY_INVALID" })]);
      },
    );
  });
});
