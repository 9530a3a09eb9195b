import type { SQSRecord } from "aws-lambda";
import { idempotentBatch, type SagaStep, saga } from "onceonly";
import type { MemoryWrite } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { answered, fifoRecord, givenBatch, returned, sqsRecord } from "./given.ts";

type Step = SagaStep<SQSRecord, MemoryWrite>;

function givenSaga() {
  const log: string[] = [];
  const broken = new Set<string>();
  const act = (what: string) => {
    if (broken.has(what)) throw new Error("not now");
    log.push(what);
  };
  const step = (name: string): Step => ({
    name,
    run: ({ input }) => act(`${name} ${input.messageId}`),
    compensate: ({ input }) => act(`undo ${name} ${input.messageId}`),
  });
  const pay = saga<SQSRecord, MemoryWrite>("pay", [step("reserve"), step("charge")]);
  const world = givenBatch();
  const handler = idempotentBatch(
    (record: SQSRecord, { idempotency }) => pay.run(idempotency, record),
    world.options,
  );
  return { ...world, log, broken, handler };
}

describe("a saga in a batch", () => {
  it("H53: runs for each record, and a message that comes again repeats nothing", async () => {
    const { handler, context, log } = givenSaga();
    const event = { Records: [sqsRecord("m1"), sqsRecord("m2")] };

    expect(returned(await handler(event, context()))).toEqual([]);
    expect(returned(await handler(event, context()))).toEqual([]);

    expect([...log].sort()).toEqual(["charge m1", "charge m2", "reserve m1", "reserve m2"]);
  });

  it("H53: is undone for one record, which is returned and not run again; the others are done", async () => {
    const { handler, context, log, broken } = givenSaga();
    const event = { Records: [sqsRecord("m1"), sqsRecord("m2")] };
    broken.add("charge m1");

    expect(returned(await handler(event, context()))).toEqual(["m1"]);
    broken.clear();
    expect(returned(await handler(event, context()))).toEqual(["m1"]);

    expect([...log].sort()).toEqual([
      "charge m2",
      "reserve m1",
      "reserve m2",
      "undo charge m1",
      "undo reserve m1",
    ]);
  });

  it("H53: stops if a compensation fails, its group waits, and a later receive continues from there", async () => {
    const { handler, context, log, broken, clock } = givenSaga();
    const event = { Records: [fifoRecord("m1", "one"), fifoRecord("m2", "one"), fifoRecord("m3", "two")] };
    broken.add("charge m1").add("undo reserve m1");

    expect(returned(await answered(handler(event, context())))).toEqual(["m1", "m2"]);
    broken.delete("undo reserve m1");
    await clock.advance(60_000);
    expect(returned(await answered(handler(event, context())))).toEqual(["m1", "m2"]);

    const ofFirst = log.filter((each) => each.endsWith("m1"));
    expect(ofFirst).toEqual(["reserve m1", "undo charge m1", "undo reserve m1"]);
    expect(log.filter((each) => each.endsWith("m3"))).toEqual(["reserve m3", "charge m3"]);
  });
});
