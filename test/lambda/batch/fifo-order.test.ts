import type { SQSRecord } from "aws-lambda";
import fc from "fast-check";
import { idempotentBatch } from "onceonly";
import { describe, expect, it } from "vitest";
import { answered, fifoRecord, givenBatch, returned, sqsRecord } from "./given.ts";
import { EventSource } from "./world.ts";

describe("idempotentBatch", () => {
  it("H26: a FIFO group stops at its first failure and returns the rest; other groups go on", async () => {
    const { options, context } = givenBatch();
    const runs: string[] = [];
    const handler = idempotentBatch(({ messageId }: SQSRecord) => {
      runs.push(messageId);
      if (messageId === "a2") throw new Error("no");
    }, options);
    const Records = ["a1", "b1", "a2", "b2", "a3", "b3"].map((id) => fifoRecord(id, id[0] as string));

    expect(returned(await answered(handler({ Records }, context())))).toEqual(["a2", "a3"]);
    expect(runs.filter((id) => id.startsWith("a"))).toEqual(["a1", "a2"]);
    expect(runs.filter((id) => id.startsWith("b"))).toEqual(["b1", "b2", "b3"]);
  });

  it("runs the groups of a FIFO queue concurrently and each of them in order", async () => {
    const { options, context, clock } = givenBatch();
    const ended: string[] = [];
    const handler = idempotentBatch(async ({ messageId }: SQSRecord) => {
      await clock.sleep(messageId === "a1" ? 3000 : 1000);
      ended.push(messageId);
    }, options);
    const Records = ["a1", "a2", "b1", "b2"].map((id) => fifoRecord(id, id[0] as string));
    await clock.run(handler({ Records }, context()));

    expect(ended).toEqual(["b1", "b2", "a1", "a2"]);
  });

  it("continues after a final error that is acknowledged", async () => {
    const { options, context } = givenBatch();
    const runs: string[] = [];
    const handler = idempotentBatch(
      ({ messageId }: SQSRecord) => {
        runs.push(messageId);
        if (messageId === "a1") throw new Error("never");
      },
      { ...options, isFinalError: () => true, whenFinalError: "acknowledge" as const },
    );

    expect(
      returned(
        await answered(handler({ Records: [fifoRecord("a1", "a"), fifoRecord("a2", "a")] }, context())),
      ),
    ).toEqual([]);
    expect(runs).toEqual(["a1", "a2"]);
  });

  it("keeps the order of groups if the event does not name its queue", async () => {
    const { options, context } = givenBatch();
    const runs: string[] = [];
    const handler = idempotentBatch(({ messageId }: Partial<SQSRecord>) => {
      runs.push(messageId as string);
      throw new Error("no");
    }, options);
    const Records = ["a1", "a2"].map((id) => {
      const { eventSourceARN: _, ...record } = fifoRecord(id, "a");
      return record;
    });

    expect(returned(await answered(handler({ Records }, context())))).toEqual(["a1", "a2"]);
    expect(runs).toEqual(["a1"]);
  });

  it("does not hold a fair standard queue's messages back for others of their group", async () => {
    const { options, context } = givenBatch();
    const handler = idempotentBatch(({ messageId }: SQSRecord) => {
      if (messageId === "m1") throw new Error("no");
    }, options);
    const attributes = { ...sqsRecord("m1").attributes, MessageGroupId: "tenant" };
    const Records = ["m1", "m2"].map((id) => sqsRecord(id, id, { attributes }));

    expect(returned(await answered(handler({ Records }, context())))).toEqual(["m1"]);
  });

  it("H26: whatever fails, hangs or is lost, each group's effects happen once and in the order of sending", async () => {
    const fates = fc.array(fc.constantFrom("done", "done", "throws", "hangs"), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 14 }),
        fates,
        fc.array(fc.boolean(), { maxLength: 4 }),
        fc.boolean(),
        async (groups, handlerFates, lostAnswers, hides) => {
          const { options, clock, store } = givenBatch();
          const source = await new EventSource(clock, true).open(12, 1000);
          const fate = handlerFates.values();
          const lost = lostAnswers.values();
          const handler = idempotentBatch(
            async ({ body }: SQSRecord, { idempotency }) => {
              const how = fate.next().value;
              if (how === "throws") throw new Error("this time only");
              if (how === "hangs") await clock.sleep(20_000);
              await idempotency.commit(null, {
                writes: [
                  {
                    table: "log",
                    key: body[0] as string,
                    item: (former) => ({ bodies: [...((former?.bodies as string[]) ?? []), body] }),
                  },
                ],
              });
            },
            {
              ...options,
              ...(hides && {
                changeVisibility: (request) => source.model.call("ChangeMessageVisibilityBatch", request),
              }),
            },
          );
          const sent: Record<string, string[]> = {};
          for (const [index, group] of groups.entries()) {
            const body = `${group}${index}`;
            sent[group] = [...(sent[group] ?? []), body];
            await source.send(body, group);
          }

          for (let polls = 0; polls < 500 && (await source.counts()).left > 0; polls++) {
            await clock.run(
              source.poll(async (event, invocation) => {
                const answer = await handler(event, invocation);
                if (lost.next().value) throw new Error("killed after its work");
                return answer;
              }),
            );
            await clock.advance(2000);
          }
          // What hung may still come to its commit.
          await clock.advance(60_000);

          expect(await source.counts()).toEqual({ left: 0, dead: 0 });
          const effects = [...store.table("log")].map(([group, item]) => [group, item.bodies]);
          expect(Object.fromEntries(effects)).toEqual(sent);
        },
      ),
      { numRuns: 150 },
    );
  });
});
