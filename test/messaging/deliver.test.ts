import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StoredMessage } from "../../lib/core/messages/outgoing-message.ts";
import { prepareMessages } from "../../lib/core/messages/prepare-message.ts";
import { connect } from "../../lib/messaging/connections.ts";
import { deliver } from "../../lib/messaging/deliver.ts";
import { BUSY, failEntries, THROTTLED, WRONG } from "../kit/faults/faulty-sqs.ts";
import { newWorld, type World } from "./given.ts";

let world: World;

beforeEach(async () => {
  world = await newWorld();
});

afterEach(() => world.stop());

const rules = (maxTries = 5) => ({
  maxTries,
  clock: { now: () => 0, sleep: async () => {} },
  random: { token: () => "token", fraction: () => 1 },
});

describe("deliver", () => {
  it("sends what a record kept as JSON", async () => {
    const message = { queue: world.queueUrl, key: "order-7", group: "7", body: { cents: 700 } };
    const stored = JSON.parse(JSON.stringify(prepareMessages([message]))) as StoredMessage[];

    const { results } = await deliver(stored, connect({ sqs: world.client }), rules());

    expect(results).toEqual([
      { sent: true, messageId: expect.any(String), sequenceNumber: expect.any(String) },
    ]);
    expect((await world.drain()).map(({ Body }) => Body)).toEqual(['{"cents":700}']);
  });

  it("H35: keeps the order of each destination and group, whichever entries fail and however often", async () => {
    const name = fc.tuple(fc.constantFrom("p", "q"), fc.constantFrom("a", "b"), fc.nat(99));
    const names = fc.uniqueArray(name, { maxLength: 25, selector: (parts) => parts.join("") });
    const faults = fc.infiniteStream(fc.constantFrom(BUSY, WRONG, THROTTLED, ...Array(5).fill(undefined)));
    const connections = connect({ sqs: world.client });

    await fc.assert(
      fc.asyncProperty(names, faults, fc.integer({ min: 1, max: 3 }), async (given, next, maxTries) => {
        const urls = { p: await world.newQueue({}), q: await world.newQueue({}) };
        const messages = prepareMessages(
          given.map(([queue, group, n]) => ({
            queue: urls[queue as "p"],
            key: `${group}${n}`,
            group,
            body: `${group}${n}`,
          })),
        );
        failEntries(world.client, () => next.next().value);
        const { results } = await deliver(messages, connections, rules(maxTries));
        failEntries(world.client, () => undefined);

        for (const [queue, url] of Object.entries(urls)) {
          const taken = (await world.drain(url)).map(({ Body }) => String(Body));
          for (const group of ["a", "b"]) {
            const line = given.flatMap(([q, g, n], index) =>
              q === queue && g === group ? [{ body: `${g}${n}`, sent: results[index]?.sent }] : [],
            );
            const accepted = line.filter(({ sent }) => sent).map(({ body }) => body);
            expect(taken.filter((body) => body.startsWith(group))).toEqual(accepted);
            // Nothing overtakes: what was accepted is the beginning of the line.
            expect(line.map(({ body }) => body).slice(0, accepted.length)).toEqual(accepted);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it("sends a message that is too large for its queue separately, and reports SQS's error", async () => {
    const messages = [
      { queue: world.queueUrl, key: "large", group: "1", body: "b".repeat(1_048_576) },
      { queue: world.queueUrl, key: "small", group: "2", body: "b" },
    ] as StoredMessage[];

    const { results, cause } = await deliver(messages, connect({ sqs: world.client }), rules());

    expect(results.map((result) => result.sent || result.code)).toEqual([
      "BatchRequestTooLong",
      "NotAttempted",
    ]);
    expect(cause).toMatchObject({ name: "BatchRequestTooLong" });
  });

  it("answers for a message of a later version, and for one it cannot read, and sends the others", async () => {
    const messages = [
      { stream: "orders", key: "a", body: "a" } as unknown as StoredMessage,
      { bus: "orders", source: "shop", detailType: "paid", key: "b", body: "no JSON" } as StoredMessage,
      { queue: world.queueUrl, key: "c", group: "7", body: "c" } as StoredMessage,
      { queue: "payments", key: "d", group: "7", body: "d" } as StoredMessage,
    ];

    const { results, cause } = await deliver(messages, connect({ sqs: world.client }), rules());

    expect(results.map((result) => result.sent || result.code)).toEqual([
      "NotAttempted",
      "NotAttempted",
      true,
      "DestinationRefused",
    ]);
    expect(cause).toEqual(
      new TypeError("a message has no destination that this version of the code supports"),
    );
  });

  it("answers for no messages", async () => {
    expect(await deliver([], connect({}), rules())).toEqual({ results: [] });
  });
});
