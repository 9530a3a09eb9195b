import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SendFailedError } from "../../lib/core/errors.ts";
import { BUSY, failEntries, THROTTLED, WRONG } from "../kit/faults/faulty-sqs.ts";
import { messagesOf, newWorld, type World } from "./given.ts";

let world: World;

beforeEach(async () => {
  world = await newWorld();
});

afterEach(() => world.stop());

describe("FifoProducer.sendBatch", () => {
  it("keeps the order of each group and sends nothing twice, whichever entries fail and however often", async () => {
    const name = fc.tuple(fc.constantFrom("a", "b", "c"), fc.nat(99)).map(([group, n]) => `${group}${n}`);
    const names = fc.uniqueArray(name, { maxLength: 25 });
    const faults = fc.infiniteStream(fc.constantFrom(BUSY, WRONG, THROTTLED, ...Array(5).fill(undefined)));

    await fc.assert(
      fc.asyncProperty(names, faults, fc.integer({ min: 1, max: 3 }), async (given, next, maxTries) => {
        const queueUrl = await world.newQueue({});
        const producer = world.newProducer({ queueUrl, maxTries });
        const messages = messagesOf(...given);
        failEntries(world.client, () => next.next().value);
        const results = await producer.sendBatch(messages).catch((error: SendFailedError) => error.results);
        failEntries(world.client, () => undefined);
        const sentFirst = (await world.drain(queueUrl)).map(({ Body }) => String(Body));

        await producer.sendBatch(messages);

        const sentLater = (await world.drain(queueUrl)).map(({ Body }) => String(Body));
        const accepted = given.filter((_, index) => results[index]?.sent);
        expect([...sentFirst].sort()).toEqual([...accepted].sort());
        for (const group of ["a", "b", "c"]) {
          const ofGroup = (body: string) => body.startsWith(group);
          expect([...sentFirst, ...sentLater].filter(ofGroup)).toEqual(given.filter(ofGroup));
        }
      }),
      { numRuns: 40 },
    );
  });
});
