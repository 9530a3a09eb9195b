// Records with an earlier attempt of unknown end: they wait for the person who resolves them, and others go on.
import { idempotentBatch, OutcomeUnknownError } from "onceonly";
import { describe, expect, it } from "vitest";
import type { VisibilityRequest } from "../../../lib/lambda/batch/batch-options.ts";
import { answered, fifoRecord, givenBatch, returned, sqsRecord } from "./given.ts";

/** A batch whose first invocation dies while it works on `record`. */
async function diedWith(record: ReturnType<typeof sqsRecord>) {
  const given = givenBatch();
  const slow = idempotentBatch(() => new Promise(() => {}), { ...given.options, whenAbandoned: "hold" });
  slow({ Records: [record] }, given.context(30_000)).catch(() => {});
  await given.clock.advance(36_000);
  return given;
}

describe("idempotentBatch, of a record whose outcome is unknown", () => {
  it("H42: returns it and the rest of its group, and others continue", async () => {
    const { options, context, errors, decisions } = await diedWith(fifoRecord("a1", "a"));
    const done: string[] = [];
    const handler = idempotentBatch(({ messageId }: { messageId: string }) => void done.push(messageId), {
      ...options,
      whenAbandoned: "hold",
    });
    const Records = [
      fifoRecord("a1", "a"),
      fifoRecord("b1", "b"),
      fifoRecord("a2", "a"),
      fifoRecord("b2", "b"),
    ];

    expect(returned(await answered(handler({ Records }, context())))).toEqual(["a1", "a2"]);

    expect(done).toEqual(["b1", "b2"]);
    expect(errors).toEqual([expect.any(OutcomeUnknownError)]);
    expect(decisions().filter((decision) => decision === "held")).toEqual(["held"]);
  });

  it("H24: hides it for 15 minutes with the rest of its group, so it uses up few receives", async () => {
    const { options, context } = await diedWith(fifoRecord("a1", "a"));
    const requests: VisibilityRequest[] = [];
    const changeVisibility = async (request: VisibilityRequest) => void requests.push(request);
    const handler = idempotentBatch(() => {}, { ...options, whenAbandoned: "hold", changeVisibility });

    await answered(handler({ Records: [fifoRecord("a1", "a"), fifoRecord("a2", "a")] }, context()));

    expect(requests.map(({ Entries }) => Entries.map((entry) => entry.VisibilityTimeout))).toEqual([
      [901, 901],
    ]);
  });

  it("H42: calls verify about it, with the record, and ends it if its effect happened", async () => {
    const { options, context, decisions, errors } = await diedWith(sqsRecord("m1"));
    const asked: string[] = [];
    const handler = idempotentBatch(() => {}, {
      ...options,
      whenAbandoned: async ({ input }) => {
        asked.push((input as { body: string }).body);
        return { outcome: "happened", result: undefined };
      },
    });

    expect(returned(await answered(handler({ Records: [sqsRecord("m1")] }, context())))).toEqual([]);

    expect(asked).toEqual(["body of m1"]);
    expect([errors, decisions().filter((decision) => decision === "verified")]).toEqual([[], ["verified"]]);
  });

  it("H42: is returned if its handler does not know, and never runs again", async () => {
    const { options, context, decisions } = givenBatch();
    let runs = 0;
    const unsure = () => {
      runs++;
      return Promise.reject(new OutcomeUnknownError());
    };
    const handler = idempotentBatch(unsure, { ...options, whenAbandoned: "hold" });

    const event = { Records: [sqsRecord("m1")] };
    expect(returned(await answered(handler(event, context())))).toEqual(["m1"]);
    expect(returned(await answered(handler(event, context())))).toEqual(["m1"]);

    expect(runs).toBe(1);
    expect(decisions().filter((decision) => decision === "held")).toHaveLength(2);
  });
});
