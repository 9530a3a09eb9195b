// A batch of which nothing is done, whoever reads the answer.
import type { SQSRecord } from "aws-lambda";
import { idempotentBatch, isOnceonlyError } from "onceonly";
import { describe, expect, it } from "vitest";
import { fifoRecord, givenBatch, sqsRecord } from "./given.ts";

const records = (...ids: readonly string[]) => ids.map((id) => sqsRecord(id));
const fail = () => Promise.reject(new Error("a secret"));

describe("idempotentBatch, of a batch of which nothing is done", () => {
  it("throws, since a mapping that does not read the response would treat all of it as done", async () => {
    const { options, context, errors } = givenBatch();

    const batch = idempotentBatch(fail, options)({ Records: records("m1", "m2") }, context());

    await expect(batch).rejects.toMatchObject({
      code: "BATCH_NOT_DONE",
      retryable: true,
      message: expect.stringMatching(/^0 of 2 records succeeded \(0 in progress elsewhere\)/),
      batchItemFailures: [{ itemIdentifier: "m1" }, { itemIdentifier: "m2" }],
      inProgress: 0,
    });
    expect(
      await batch.catch((error) => [isOnceonlyError(error), JSON.stringify(error), error.stack]),
    ).toEqual([true, expect.not.stringContaining("secret"), expect.not.stringContaining("secret")]);
    expect(errors).toHaveLength(2);
  });

  it("answers as soon as one record is done", async () => {
    const { options, context } = givenBatch();
    const handler = idempotentBatch(
      ({ messageId }: SQSRecord) => (messageId === "m1" ? fail() : null),
      options,
    );

    expect(await handler({ Records: records("m1", "m2") }, context())).toEqual({
      batchItemFailures: [{ itemIdentifier: "m1" }],
    });
  });

  it("throws for records in progress elsewhere too, reports no error for them, and hides them", async () => {
    const { options, context, clock, errors } = givenBatch();
    void idempotentBatch(() => new Promise(() => {}), options)({ Records: records("m1") }, context());
    await clock.advance(0);
    let hidden = 0;
    const changeVisibility = async () => void hidden++;

    await expect(
      idempotentBatch(() => {}, { ...options, changeVisibility })({ Records: records("m1") }, context()),
    ).rejects.toMatchObject({ code: "BATCH_NOT_DONE", inProgress: 1 });
    expect([errors, hidden]).toEqual([[], 1]);
  });

  it("throws when there was no time to start, and after the head of a group", async () => {
    const { options, context } = givenBatch();
    const Records = [fifoRecord("a1", "a"), fifoRecord("a2", "a")];

    await expect(idempotentBatch(() => {}, options)({ Records }, context(0))).rejects.toMatchObject({
      batchItemFailures: [{ itemIdentifier: "a1" }, { itemIdentifier: "a2" }],
    });
    await expect(idempotentBatch(fail, options)({ Records }, context())).rejects.toMatchObject({
      batchItemFailures: [{ itemIdentifier: "a1" }, { itemIdentifier: "a2" }],
    });
  });

  it("reports nothing for an empty one, nor for one whose final errors are acknowledged", async () => {
    const { options, context } = givenBatch();
    const handler = idempotentBatch(fail, {
      ...options,
      isFinalError: () => true,
      whenFinalError: "acknowledge",
    });

    expect(await handler({ Records: [] }, context())).toEqual({ batchItemFailures: [] });
    expect(await handler({ Records: records("m1") }, context())).toEqual({ batchItemFailures: [] });
  });
});
