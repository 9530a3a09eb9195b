import type { SQSEvent } from "aws-lambda";
import { idempotentBatch } from "onceonly";
import { describe, expect, it } from "vitest";
import { givenBatch, sqsRecord } from "./given.ts";

describe("idempotentBatch", () => {
  it.each([
    [{ Records: [{ EventSource: "aws:sns" }] }, /`idempotent`/],
    [{ detail: {} }, /not a batch/],
    [undefined, /not a batch/],
    [{ Records: [sqsRecord("")] }, /without an identifier/],
  ])("refuses what is no batch, or could not be answered for: %j", async (event, message) => {
    const { options, context } = givenBatch();
    await expect(idempotentBatch(() => {}, options)(event as unknown as SQSEvent, context())).rejects.toThrow(
      message,
    );
  });
});
