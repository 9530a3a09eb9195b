// What a crash may cost: the relay's at every request, and that of the request that commits.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { deathsAt, newProcess } from "../kit/faults/dying-process.ts";
import { connect } from "../kit/tables.ts";
import { newOutboxWorld, type OutboxWorld } from "./outbox-world.ts";

const MINUTE = 60_000;

/** How old the commit is when it is relayed first, and what a relay asks for then: it looks whether a group waits. */
const AGES = [
  ["just made", 0, ["the look", "the send", "the mark"]],
  ["made a minute ago", MINUTE, ["the taking", "the look", "the send", "the mark"]],
] as const;

describe.each(inject("dynamodbEngines"))("a crash, on $name", ({ endpoint }) => {
  let world: OutboxWorld;
  let group: string;

  beforeAll(async () => {
    world = await newOutboxWorld(connect(endpoint), endpoint);
  });
  afterAll(() => world.stop());

  beforeEach(async () => {
    group = `${randomUUID()}-`;
    await world.relay();
    await world.consume();
    world.delivered.length = 0;
  });

  describe.each(AGES)("of the relay, with a commit %s", (_, age, requests) => {
    it("meets all requests that a relay sends", async () => {
      const relay = newProcess();
      await world.order({ key: group, messages: [world.message(`${group}1`)] });
      await world.clock.advance(age);

      expect(await world.relay(relay)).toBe(0);

      expect(relay.requests()).toBe(requests.length);
    });

    describe.each(deathsAt(requests))("%s", (when, death) => {
      it.each([
        ["at once", 0],
        ["within 5 minutes", 4 * MINUTE],
        ["after 6 minutes", 6 * MINUTE],
      ])("H33: the batch comes again %s: delivered, and one effect", async (_again, wait) => {
        await world.order({ key: group, messages: [world.message(`${group}1`)] });
        await world.clock.advance(age);
        expect(await world.relay(newProcess(death))).toBeGreaterThan(0);
        await world.consume();
        await world.clock.advance(wait);

        expect(await world.relay()).toBe(0);
        await world.consume();

        const wasSent = when.includes("send, which") || when.includes("mark");
        const wasMarked = when.includes("mark, which");
        // After the deduplication window a queue takes what it had for new.
        const isRepeated = wait > 5 * MINUTE && wasSent && !wasMarked;
        expect(world.delivered).toEqual(Array(isRepeated ? 2 : 1).fill(`${group}1`));
        expect(await world.effectsOf(group)).toEqual([`${group}1`]);
        expect(await world.sweep()).toEqual({ sent: 0, failed: 0, waiting: 0 });
      });
    });
  });

  it.each([0, 6 * MINUTE])(
    "H33: the answer of a relay that did all its work is lost, and %i ms later the batch comes again",
    async (wait) => {
      await world.order({ key: group, messages: [world.message(`${group}1`), world.message(`${group}2`)] });
      expect(await world.relay(newProcess(), {}, true)).toBeGreaterThan(0);
      await world.consume();
      await world.clock.advance(wait);

      expect(await world.relay()).toBe(0);
      await world.consume();

      // What is old is looked up first.
      expect(world.delivered).toEqual([`${group}1`, `${group}2`]);
      expect(await world.effectsOf(group)).toEqual([`${group}1`, `${group}2`]);
    },
  );

  it.each(
    deathsAt([
      "the taking",
      "the read of an item",
      "the read of the other",
      "the look",
      "the first send",
      "the second send",
      "the mark",
    ]),
  )(
    "H33: of a relay, %s, with messages that are too large for the record: each has one effect",
    async (_, death) => {
      const names = [`${group}1`, `${group}2`];
      const messages = names.map((name) => world.message(name, { body: `${name} ${"x".repeat(300_000)}` }));
      await world.order({ key: group, messages });
      const relay = newProcess(death);
      expect(await world.relay(relay)).toBeGreaterThan(0);
      expect(relay.requests()).toBe(death.at);
      await world.clock.advance(6 * MINUTE);

      expect(await world.relay()).toBe(0);
      await world.consume();

      expect(await world.effectsOf(group)).toEqual(names);
    },
  );

  describe.each([
    ["claimed", ["the claim", "the commit"]],
    ["optimistic", ["the look", "the commit"]],
  ] as const)("of a request that commits, %s", (mode, requests) => {
    it("meets all requests that it sends", async () => {
      const request = newProcess();

      await world.order({ key: group, mode, messages: [world.message(`${group}1`)] }, request);

      expect(request.requests()).toBe(requests.length);
    });

    it.each(deathsAt(requests))(
      "H36: %s: order row and message are both there or both not, and both after a retry",
      async (_, death) => {
        const order = { key: group, mode, messages: [world.message(`${group}1`)] };
        const drain = async () => {
          await world.relay();
          await world.sweep();
          await world.consume();
          return { rows: Number(await world.hasOrderRow(group)), effects: await world.effectsOf(group) };
        };

        expect(await world.order(order, newProcess(death))).toBeUndefined();
        const { rows, effects } = await drain();
        await world.clock.advance(MINUTE);

        expect(effects).toHaveLength(rows);
        expect(rows).toBe(death.at === 2 && death.isApplied ? 1 : 0);
        expect(await world.order(order)).toBe("created");
        expect(await drain()).toEqual({ rows: 1, effects: [`${group}1`] });
      },
    );

    describe.each(deathsAt(requests))("%s", (_when, ofRequest) => {
      it.each(deathsAt(AGES[0][2]))(
        "H36: and then of the relay, %s: both exist in the end, once",
        async (_, ofRelay) => {
          const order = { key: group, mode, messages: [world.message(`${group}1`)] };

          await world.order(order, newProcess(ofRequest));
          await world.relay(newProcess(ofRelay));
          await world.clock.advance(6 * MINUTE);
          await world.order(order);
          await world.relay(newProcess(ofRelay));
          await world.clock.advance(6 * MINUTE);
          await world.relay();
          await world.consume();

          expect(await world.hasOrderRow(group)).toBe(true);
          expect(await world.effectsOf(group)).toEqual([`${group}1`]);
        },
      );
    });
  });
});
