import type { SQSRecord } from "aws-lambda";
import { type BatchOptions, idempotentBatch } from "onceonly";
import type { MemoryWrite } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import type { VisibilityRequest } from "../../../lib/lambda/batch/batch-options.ts";
import { givenBatch, sqsRecord } from "./given.ts";
import { EventSource } from "./world.ts";

type Options = BatchOptions<SQSRecord, MemoryWrite>;

async function givenQueue(isFifo: boolean, visibilitySeconds = 12) {
  const world = givenBatch();
  const source = await new EventSource(world.clock, isFifo).open(visibilitySeconds, 3);
  const options: Options = { ...world.options, key: ({ body }) => body };
  const changeVisibility = (request: VisibilityRequest) =>
    source.model.call("ChangeMessageVisibilityBatch", request);
  return { ...world, source, options, changeVisibility };
}

describe("idempotentBatch with an event source mapping", () => {
  it.each([
    ["never the healthy one that is in progress elsewhere", true, { left: 0, dead: 1 }],
    ["and the healthy one too, where nothing hides it", false, { left: 0, dead: 2 }],
  ])("H24: poison reaches the dead-letter queue, %s", async (_, hides, expected) => {
    const { clock, context, source, options, changeVisibility } = await givenQueue(false);
    const runs: Record<string, number> = {};
    const elsewhere = idempotentBatch(() => clock.sleep(150_000), options);
    void elsewhere({ Records: [sqsRecord("of another consumer", "slow")] }, context(200_000));
    const handler = idempotentBatch(
      ({ body }: SQSRecord) => {
        runs[body] = (runs[body] ?? 0) + 1;
        if (body === "poison") throw new Error("cannot be done");
      },
      { ...options, ...(hides && { changeVisibility }) },
    );
    for (const body of ["poison", "slow", "good"]) await source.send(body);

    for (let second = 0; second < 300; second++) {
      await clock.run(source.poll(handler));
      await clock.advance(1000);
    }

    expect(await source.counts()).toEqual(expected);
    // One run for each receive that the queue allows; the slow one ran elsewhere.
    expect(runs).toEqual({ poison: 3, good: 1 });
  });

  it("H25: a FIFO head in progress elsewhere holds back its own group only, and burns one receive a lease", async () => {
    const { clock, context, source, options, changeVisibility } = await givenQueue(true);
    const done: string[] = [];
    const elsewhere = idempotentBatch(() => clock.sleep(60_000), options);
    void elsewhere({ Records: [sqsRecord("of another consumer", "a1")] }, context(70_000));
    const handler = idempotentBatch(({ body }: SQSRecord) => void done.push(body), {
      ...options,
      changeVisibility,
    });
    for (const body of ["a1", "b1", "a2", "b2", "a3"]) await source.send(body, body[0]);

    await clock.run(source.poll(handler));
    expect([...done]).toEqual(["b1", "b2"]);
    let polls = 0;
    for (let second = 0; second < 90; second++) {
      if ((await clock.run(source.poll(handler))) > 0) polls += 1;
      await clock.advance(1000);
    }

    expect(done).toEqual(["b1", "b2", "a2", "a3"]);
    expect(polls).toBe(1);
    expect(await source.counts()).toEqual({ left: 0, dead: 0 });
  });

  it("H25: a FIFO head that fails holds back its own group only, and moves the messages received with it to the dead letters", async () => {
    const { clock, source, options } = await givenQueue(true);
    const done: string[] = [];
    const handler = idempotentBatch(({ body }: SQSRecord) => {
      if (body === "a1") throw new Error("cannot be done");
      done.push(body);
    }, options);
    for (const body of ["a1", "b1", "a2", "b2"]) await source.send(body, body[0]);

    await clock.run(source.poll(handler));
    const atFirst = [...done];
    for (let second = 0; second < 60; second++) {
      await clock.run(source.poll(handler));
      await clock.advance(1000);
    }

    expect(atFirst).toEqual(["b1", "b2"]);
    // SQS counts a receive for each message of a batch, also for what had to wait.
    expect(await source.counts()).toEqual({ left: 0, dead: 2 });
    expect(done).toEqual(["b1", "b2"]);
  });

  it("H27: runs each message once although every answer of the first two invocations is lost", async () => {
    const { clock, source, options } = await givenQueue(false);
    const runs: string[] = [];
    const handler = idempotentBatch(({ body }: SQSRecord) => void runs.push(body), options);
    const bodies = Array.from({ length: 10 }, (_, index) => `message ${index}`);
    for (const body of bodies) await source.send(body);
    let invocations = 0;

    for (let second = 0; second < 40; second++) {
      await clock.run(
        source.poll(async (event, invocation) => {
          const answer = await handler(event, invocation);
          if (invocations++ < 2) throw new Error("killed after its work");
          return answer;
        }),
      );
      await clock.advance(1000);
    }

    expect(runs.sort()).toEqual(bodies.sort());
    expect(invocations).toBe(3);
    expect(await source.counts()).toEqual({ left: 0, dead: 0 });
  });
});
