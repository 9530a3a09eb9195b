import type { SQSRecord } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { Consumer, type RunningFunction } from "../../../measure/batch/consumer.ts";
import { messageStream } from "../../../measure/batch/message-stream.ts";

const MESSAGES = messageStream(3, 2);

/** @param handle answers with the messages that are not done */
function functionOf(
  handle: (records: readonly SQSRecord[]) => readonly SQSRecord[],
  died: Promise<"died"> = new Promise(() => {}),
): RunningFunction {
  return {
    environment: { died },
    invoke: async ({ Records }) => ({
      batchItemFailures: handle(Records).map(({ messageId }) => ({ itemIdentifier: messageId })),
    }),
  };
}

describe("Consumer", () => {
  it("delivers every message once when all are done", async () => {
    const seen: string[] = [];
    const consumer = new Consumer(2, () =>
      functionOf((records) => {
        seen.push(...records.map(({ messageId }) => messageId));
        return [];
      }),
    );

    await consumer.consume(MESSAGES, () => expect.unreachable());

    expect(seen.sort()).toEqual(MESSAGES.map(({ messageId }) => messageId));
    expect(consumer.deliveries).toBe(MESSAGES.length);
  });

  it("delivers batches of another size, and measures each invocation", async () => {
    const sizes: number[] = [];
    const start = () =>
      functionOf((records) => {
        sizes.push(records.length);
        return [];
      });
    const consumer = new Consumer(1, start, 20);

    await consumer.consume(MESSAGES, () => {});

    expect(sizes).toEqual([20, 10]);
    expect(consumer.invocationMs).toHaveLength(2);
  });

  it("delivers messages again that an invocation returned, after the visibility timeout", async () => {
    let isVisible = false;
    const consumer = new Consumer(2, () => functionOf((records) => (isVisible ? [] : records.slice(0, 1))));

    await consumer.consume(MESSAGES, () => {
      isVisible = true;
    });

    expect(consumer.deliveries).toBe(MESSAGES.length + 3);
  });

  it("delivers the whole batch again when its invocation failed", async () => {
    let failures = 0;
    const consumer = new Consumer(1, () =>
      functionOf(() => {
        if (failures++ === 0) throw new Error("all of the batch failed");
        return [];
      }),
    );

    await consumer.consume(MESSAGES, () => {});

    expect(consumer.deliveries).toBe(MESSAGES.length + 10);
  });

  it("delivers the batch of an environment that died to a new one", async () => {
    let started = 0;
    const consumer = new Consumer(1, () => {
      if (started++ > 0) return functionOf(() => []);
      return { environment: { died: Promise.resolve("died") }, invoke: () => new Promise(() => {}) };
    });

    await consumer.consume(MESSAGES, () => {});

    expect([started, consumer.crashes, consumer.deliveries]).toEqual([2, 1, MESSAGES.length + 10]);
  });

  it("gives up on messages that come back without end", async () => {
    const consumer = new Consumer(1, () => functionOf((records) => records));

    await expect(consumer.consume(MESSAGES, () => {})).rejects.toThrow(
      "30 messages come back again and again",
    );
  });
});
