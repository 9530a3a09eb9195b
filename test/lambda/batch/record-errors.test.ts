import type { SQSRecord } from "aws-lambda";
import { idempotentBatch, PermanentError, runOnce, type WithIdempotency } from "onceonly";
import { MemoryStore } from "onceonly/testing";
import { describe, expect, it, vi } from "vitest";
import { pausePoint } from "../given.ts";
import { answered, givenBatch, returned, sqsRecord } from "./given.ts";

const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `m${from + i}`);

describe("idempotentBatch", () => {
  it("H27: returns exactly the records whose handler threw, whatever was thrown", async () => {
    const { options, context, errors } = givenBatch();
    const thrown: Record<string, unknown> = { m2: new Error("no"), m4: undefined, m5: "text", m6: null };
    const handler = idempotentBatch(({ messageId }: SQSRecord) => {
      if (messageId in thrown) throw thrown[messageId];
    }, options);

    const answer = await handler({ Records: ids(1, 7).map((id) => sqsRecord(id)) }, context());

    expect(returned(answer)).toEqual(["m2", "m4", "m5", "m6"]);
    expect(errors).toEqual(Object.values(thrown));
  });

  it("H27: returns a record whose key, scope or fingerprint cannot be read, and does the others", async () => {
    const { options, context, errors } = givenBatch();
    const parse = (record: SQSRecord) => (JSON.parse(record.body) as { id: string }).id;
    const event = { Records: [sqsRecord("m1", '{"id":"a"}'), sqsRecord("m2", "{")] };
    for (const name of ["key", "scope", "fingerprint"]) {
      const run = vi.fn();
      const answer = await answered(
        idempotentBatch(run, { ...options, operation: name, [name]: parse })(event, context()),
      );

      expect(returned(answer)).toEqual(["m2"]);
      expect(run).toHaveBeenCalledTimes(1);
    }
    expect(errors.map((error) => (error as Error).name)).toEqual(Array(3).fill("SyntaxError"));
  });

  it("H27: an observer that throws, of errors or of decisions, changes nothing", async () => {
    const { options, context } = givenBatch();
    const throwing = () => {
      throw new Error("observer");
    };
    const rejecting = (() => Promise.reject(new Error("observer"))) as () => never;
    const handler = idempotentBatch(
      ({ messageId }: SQSRecord) => {
        if (messageId === "m1") throw new Error("no");
      },
      { ...options, onRecordError: throwing, observe: throwing },
    );
    const later = idempotentBatch(
      () => {
        throw new Error("no");
      },
      { ...options, onRecordError: rejecting, observe: rejecting },
    );
    expect(
      returned(await answered(handler({ Records: [sqsRecord("m1"), sqsRecord("m2")] }, context()))),
    ).toEqual(["m1"]);
    expect(await answered(later({ Records: [sqsRecord("m3")] }, context()))).toMatchObject({
      code: "BATCH_NOT_DONE",
    });
  });

  it("acknowledges a record that committed and threw only when it comes again", async () => {
    const { options, context, decisions } = givenBatch();
    const handler = idempotentBatch(async (_: SQSRecord, { idempotency }) => {
      await idempotency.commit("charged");
      throw new Error("after the commit");
    }, options);
    const event = { Records: [sqsRecord("m1")] };

    expect(returned(await answered(handler(event, context())))).toEqual(["m1"]);
    expect(returned(await answered(handler(event, context())))).toEqual([]);
    expect(decisions()).toEqual(["key-fallback", "executed", "key-fallback", "replayed"]);
  });

  it.each(["return", "acknowledge"] as const)(
    "with `%s`, a final error runs once and is replayed",
    async (how) => {
      const { options, context, errors } = givenBatch();
      const run = vi.fn(() => {
        throw new PermanentError("card is closed");
      });
      const handler = idempotentBatch(run, { ...options, whenFinalError: how });
      const event = { Records: [sqsRecord("m1")] };
      const expected = how === "return" ? ["m1"] : [];

      expect(returned(await answered(handler(event, context())))).toEqual(expected);
      expect(returned(await answered(handler(event, context())))).toEqual(expected);
      expect(run).toHaveBeenCalledTimes(1);
      expect(errors).toEqual(Array(2).fill(expect.objectContaining({ message: "card is closed" })));
    },
  );

  it("returns a final error whose record could not be written, though it were to acknowledge it", async () => {
    const { options, context, store } = givenBatch();
    const broken = Object.create(store, {
      settle: { value: () => Promise.reject(Object.assign(new Error(), { code: "no store" })) },
    }) as typeof store;
    const handler = idempotentBatch(
      () => {
        throw new PermanentError("no");
      },
      { ...options, store: broken, whenFinalError: "acknowledge" as const },
    );
    expect(returned(await answered(handler({ Records: [sqsRecord("m1")] }, context())))).toEqual(["m1"]);
  });

  it("treats a record as done if its result was too large to keep", async () => {
    const { options, context } = givenBatch();
    const run = vi.fn((_: SQSRecord, { idempotency }: WithIdempotency) =>
      idempotency.commit("x".repeat(2000)),
    );
    const handler = idempotentBatch(run, { ...options, store: new MemoryStore({ maxResultBytes: 1500 }) });
    const event = { Records: [sqsRecord("m1")] };

    expect(returned(await answered(handler(event, context())))).toEqual([]);
    expect(returned(await answered(handler(event, context())))).toEqual([]);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it("does not mistake an inner operation's error for the record's own", async () => {
    const { options, context, errors } = givenBatch();
    const point = pausePoint();
    const { onRecordError: _, ...engineOptions } = options;
    const innerOptions = { ...engineOptions, operation: "inner", leaseSeconds: 60 };
    const running = runOnce(innerOptions, "shared", null, point.pause);
    await point.reached;
    const changeVisibility = vi.fn(async () => {});
    const outer = idempotentBatch(() => runOnce(innerOptions, "shared", null, () => {}), {
      ...options,
      changeVisibility,
    });

    expect(returned(await answered(outer({ Records: [sqsRecord("m1")] }, context())))).toEqual(["m1"]);
    expect(changeVisibility).not.toHaveBeenCalled();
    expect(errors).toEqual([expect.objectContaining({ code: "EXECUTION_IN_PROGRESS" })]);
    point.resume();
    await running;
  });

  it.each([
    ["record m1", { Records: [sqsRecord("m1", "a secret")] }],
    [
      "record 49",
      {
        Records: [{ eventSource: "aws:kinesis", eventID: "1", kinesis: { sequenceNumber: "49", data: "" } }],
      },
    ],
    [
      "record 17",
      { Records: [{ eventSource: "aws:dynamodb", eventID: "1", dynamodb: { SequenceNumber: "17" } }] },
    ],
    [
      "record orders-3 at offset 8",
      { records: { "orders-3": [{ topic: "orders", partition: 3, offset: 8 }] } },
    ],
  ])(
    "logs errors of records to the console by default, with the name of the %s and nothing of its content",
    async (name, event) => {
      const { options, context } = givenBatch();
      const write = vi.spyOn(console, "error").mockImplementation(() => {});
      const error = new Error("no");
      const handler = idempotentBatch(() => Promise.reject(error), { ...options, onRecordError: undefined });

      const batch = handler(event as Parameters<typeof handler>[0], context());

      await expect(batch).rejects.toThrow(
        `0 of 1 records succeeded (0 in progress elsewhere); the first failure is ${name}.`,
      );
      expect(write.mock.calls).toEqual([[`onceonly: ${name} failed (operation "charge-payment"):`, error]]);
      write.mockRestore();
    },
  );
});
