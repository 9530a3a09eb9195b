import { describe, expect, it } from "vitest";
import { messageStream, orderIdOf, placesOf, workMsOf } from "../../../measure/batch/message-stream.ts";

const STREAM = messageStream(1000, 4);

describe("messageStream", () => {
  it("is the same every time", () => {
    expect(messageStream(1000, 4)).toEqual(STREAM);
  });

  it("has ten messages a batch, and a fifth of them repeat an order", () => {
    expect(STREAM).toHaveLength(10_000);
    expect(new Set(STREAM.map(orderIdOf)).size).toBe(8000);
  });

  it("has batches of another size, with the same share of repeats", () => {
    const stream = messageStream(10, 1, 100);

    expect(stream).toHaveLength(1000);
    expect(new Set(stream.map(orderIdOf)).size).toBe(800);
    expect(placesOf(stream, 1, 100).nextBatches).toBe(0);
  });

  it("makes handlers work for 5 to 50 ms, the same for each message of an order", () => {
    const lengths = STREAM.map(workMsOf);

    expect([Math.min(...lengths), Math.max(...lengths)]).toEqual([5, 50]);
  });

  it("gives every message a different id", () => {
    expect(new Set(STREAM.map(({ messageId }) => messageId)).size).toBe(STREAM.length);
  });

  it("repeats an order with the same body", () => {
    const bodies = new Map<string, string>();
    for (const record of STREAM) {
      expect(record.body).toBe(bodies.get(orderIdOf(record)) ?? record.body);
      bodies.set(orderIdOf(record), record.body);
    }
  });

  it("spreads the repeats over the same batch, the next ones and later ones", () => {
    const { sameBatch, nextBatches, later } = placesOf(STREAM, 4);

    expect(sameBatch + nextBatches + later).toBe(2000);
    expect(Math.min(sameBatch, nextBatches, later)).toBeGreaterThan(600);
  });
});
