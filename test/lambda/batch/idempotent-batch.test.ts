import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { idempotentBatch } from "onceonly";
import { describe, expect, it, vi } from "vitest";
import { answered, envelope, givenBatch, returned, sqsRecord } from "./given.ts";

const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `m${from + i}`);

describe("idempotentBatch", () => {
  it("runs each record once and returns nothing when all are done", async () => {
    const { options, context } = givenBatch();
    const seen: string[] = [];
    const handler = idempotentBatch((record: SQSRecord) => void seen.push(record.body), options);
    const event: SQSEvent = { Records: [sqsRecord("m1"), sqsRecord("m2")] };

    const first: SQSBatchResponse = await handler(event, context());
    const second = await handler(event, context());

    expect([first, second]).toEqual([{ batchItemFailures: [] }, { batchItemFailures: [] }]);
    expect(seen).toEqual(["body of m1", "body of m2"]);
  });

  it("answers an empty batch with nothing", async () => {
    const { options, context } = givenBatch();
    expect(await idempotentBatch(() => {}, options)({ Records: [] }, context())).toEqual({
      batchItemFailures: [],
    });
  });

  it("H27: replays the records that were done before a crash after 7 of 10, and runs the other 3", async () => {
    const { options, context, clock, decisions } = givenBatch();
    const runs: string[] = [];
    let crash = true;
    const handler = idempotentBatch(
      async (record: SQSRecord) => {
        // A crash is a handler that never comes back: its invocation answers nothing.
        if (crash && runs.length === 7) await new Promise(() => {});
        runs.push(record.messageId);
      },
      { ...options, concurrency: 1 },
    );
    const event = { Records: ids(1, 10).map((id) => sqsRecord(id)) };
    void handler(event, context(10_000));
    await clock.advance(20_000);
    const before = decisions().filter((decision) => decision === "executed").length;
    crash = false;

    expect(returned(await answered(handler(event, context())))).toEqual([]);
    expect(before).toBe(7);
    expect(runs).toEqual(ids(1, 10));
    expect(decisions().filter((decision) => decision === "replayed")).toHaveLength(7);
  });

  it("H52: two consumers of one message both run, each once", async () => {
    const { options, context } = givenBatch();
    const runs: string[] = [];
    const event = { Records: [sqsRecord("m1", "order", envelope("order-1"))] };
    for (const operation of ["charge-payment", "send-mail", "charge-payment", "send-mail"]) {
      await idempotentBatch(() => void runs.push(operation), { ...options, operation })(event, context());
    }
    expect(runs).toEqual(["charge-payment", "send-mail"]);
  });

  it.each([true, false])(
    "a message that is done counts as done, though its handler throws after each commit (optimistic, lookFirst: %s)",
    async (lookFirst) => {
      const { options, context } = givenBatch();
      const handler = idempotentBatch(
        async (_: SQSRecord, { idempotency }) => {
          await idempotency.commit("charged");
          throw new Error("after the commit");
        },
        { ...options, mode: "optimistic", lookFirst, onRecordError: () => {} },
      );
      const event = { Records: [sqsRecord("m1")] };

      expect(returned(await answered(handler(event, context())))).toEqual(["m1"]);
      expect(returned(await answered(handler(event, context())))).toEqual([]);
      expect(returned(await answered(handler(event, context())))).toEqual([]);
    },
  );

  it("gives each record a separate context, with the execution of its key", async () => {
    const { options, context } = givenBatch();
    const invocation = context();
    const keys: (readonly [key: string, own: boolean, request: string])[] = [];
    const handler = idempotentBatch(
      async (_: SQSRecord, own) => {
        await Promise.resolve();
        keys.push([own.idempotency.key, own !== invocation, own.awsRequestId]);
      },
      { ...options, key: (record: SQSRecord) => record.body },
    );
    await handler({ Records: [sqsRecord("m1", "a"), sqsRecord("m2", "b")] }, invocation);

    expect(keys).toEqual(["a", "b"].map((key) => [key, true, invocation.awsRequestId]));
    expect("idempotency" in invocation).toBe(false);
  });

  it.each([
    ["100 by default", 100, {}],
    ["10 if the store has a pool of connections", 10, { isPooled: true }],
    ["`concurrency`", 3, { concurrency: 3 }],
    ["`concurrency` with a pool too", 30, { concurrency: 30, isPooled: true }],
  ])(
    "R1: runs no more records at the same time than %s",
    async (_, expected, {
      isPooled = false,
      ...concurrency
    }: { isPooled?: boolean; concurrency?: number }) => {
      const { options, context, store } = givenBatch();
      Object.assign(store, { usesPool: isPooled });
      let [running, most] = [0, 0];
      const handler = idempotentBatch(
        async () => {
          most = Math.max(most, ++running);
          await new Promise(setImmediate);
          running--;
        },
        { ...options, ...concurrency },
      );
      await handler({ Records: ids(1, 125).map((id) => sqsRecord(id)) }, context());

      expect(most).toBe(expected);
    },
  );

  it("lets duplicates within one batch wait for each other instead of returning them", async () => {
    const { options, context, decisions } = givenBatch();
    const run = vi.fn(() => new Promise((resolve) => setImmediate(resolve)));
    const records = ids(1, 4).map((id) => sqsRecord(id, "order", envelope("order-1")));

    expect(returned(await answered(idempotentBatch(run, options)({ Records: records }, context())))).toEqual(
      [],
    );
    expect(run).toHaveBeenCalledTimes(1);
    expect(decisions()).toEqual(["executed", "replayed", "replayed", "replayed"]);
  });

  it("runs duplicates within one batch one after the other, even if the first of them fails", async () => {
    const { options, context, decisions } = givenBatch();
    const run = vi.fn(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      if (run.mock.calls.length === 1) throw new Error("at first");
    });
    const records = ids(1, 4).map((id) => sqsRecord(id, "order", envelope("order-1")));

    expect(returned(await answered(idempotentBatch(run, options)({ Records: records }, context())))).toEqual([
      "m1",
    ]);
    expect(decisions()).toEqual(["released", "executed", "replayed", "replayed"]);
  });

  it("refuses another payload under the same key", async () => {
    const { options, context, decisions, errors } = givenBatch();
    const handler = idempotentBatch(() => {}, options);
    await handler({ Records: [sqsRecord("m1", "one", envelope("order-1"))] }, context());

    const answer = await answered(
      handler({ Records: [sqsRecord("m2", "two", envelope("order-1"))] }, context()),
    );

    expect(returned(answer)).toEqual(["m2"]);
    expect(decisions()).toEqual(["executed", "mismatch"]);
    expect(errors).toEqual([expect.objectContaining({ code: "FINGERPRINT_MISMATCH" })]);
  });

  it("commits the effect and the record of the message in one transaction, or neither", async () => {
    const { options, context, store } = givenBatch();
    const handler = idempotentBatch(async ({ messageId }: SQSRecord, { idempotency }) => {
      const condition = () => messageId !== "m2";
      await idempotency.commit("charged", {
        writes: [{ table: "payments", key: messageId, item: { messageId }, condition }],
      });
    }, options);
    const event = { Records: [sqsRecord("m1"), sqsRecord("m2")] };

    expect(returned(await answered(handler(event, context())))).toEqual(["m2"]);
    expect(returned(await answered(handler(event, context())))).toEqual(["m2"]);
    expect([...store.table("payments").keys()]).toEqual(["m1"]);
    expect([...store.records.values()].map(({ state }) => state)).toEqual(["completed", "released"]);
  });

  it.each([
    ["concurrency", 0],
    ["concurrency", 1.5],
    ["deadlineMarginMs", -1],
    ["deadlineMarginMs", "1"],
    ["whenFinalError", "drop"],
    ["changeVisibility", {}],
    ["onRecordError", "console"],
    ["key", "messageId"],
    ["scope", "tenant"],
    ["whenKeyMissing", "run"],
    ["operation", ""],
  ])("refuses the option %s: %j", (name, value) => {
    const { options } = givenBatch();
    expect(() => idempotentBatch(() => {}, { ...options, [name]: value })).toThrow(`\`${name}\``);
  });
});
