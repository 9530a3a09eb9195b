import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { connect } from "../kit/tables.ts";
import { type ConsumerWorld, newConsumerWorld } from "./consumer-world.ts";

/** In minutes. */
const DAY = 24 * 60;
/** In minutes: twice the longest redelivery of SQS with a dead-letter queue: docs/reference/keys.md, "Retention by source". */
const RETENTION = 36 * DAY;

describe.each(inject("dynamodbEngines"))(
  "idempotentBatch after a repeated send, on $name",
  ({ endpoint }) => {
    const dynamodb = connect(endpoint);
    let world: ConsumerWorld;

    beforeEach(async () => {
      world = await newConsumerWorld(dynamodb);
    });

    afterEach(() => world.stop());

    it.each([
      [1, 0],
      [4, 0],
      [6, 1],
    ])(
      "H29: the same send %i minutes later is delivered %i times, and has no second effect",
      async (minutes, times) => {
        const consumer = world.newConsumer();
        const message = world.newMessage();
        await world.producer.send(message);
        await consumer.poll();
        await world.minutes(minutes);

        await world.producer.send(message);

        expect(await consumer.poll()).toHaveLength(times);
        expect([await world.chargesOf(message), consumer.attempts]).toEqual([1, [1]]);
      },
    );

    it("H29: a resend at 1, 4 and 6 minutes is delivered once for each, however often it is tried", async () => {
      const consumer = world.newConsumer();
      const message = world.newMessage();
      await world.producer.send(message);
      const delivered = [(await consumer.poll()).length];
      for (const [attempt, minutes] of [
        [1, 1],
        [2, 3],
        [3, 2],
      ] as const) {
        await world.minutes(minutes);
        await world.producer.resend({ ...message, attempt });
        await world.producer.resend({ ...message, attempt });
        delivered.push((await consumer.poll()).length);
      }

      expect(delivered).toEqual([1, 1, 1, 1]);
      expect([await world.chargesOf(message), consumer.attempts]).toEqual([1, [1]]);
      expect(consumer.reported("replayed")).toBe(3);
    });

    it("H30: work whose only copy failed and was deleted anyway is done by a resend, not by a send", async () => {
      const consumer = world.newConsumer();
      const message = world.newMessage();
      await world.producer.send(message);
      consumer.fate = "fails";
      await consumer.poll("ignored");
      consumer.fate = "charges";
      await world.minutes(1);

      await world.producer.send(message);
      expect([await consumer.poll(), await world.chargesOf(message)]).toEqual([[], 0]);
      await world.producer.resend({ ...message, attempt: 1 });

      expect(await consumer.poll()).toHaveLength(1);
      expect([await world.chargesOf(message), consumer.attempts]).toEqual([1, [1, 2]]);
    });

    it("H28, H30: a resend does the work of a message that is parked, whose redrive then has no effect", async () => {
      const consumer = world.newConsumer();
      const message = world.newMessage();
      await world.producer.send(message);
      consumer.fate = "fails";
      await consumer.exhaust();
      consumer.fate = "charges";

      await world.producer.send(message);
      expect([(await consumer.poll()).length, (await world.deadLetters()).length]).toEqual([0, 1]);
      await world.producer.resend({ ...message, attempt: 1 });
      await consumer.poll();
      await world.redrive();

      expect(await consumer.poll()).toHaveLength(1);
      expect([await world.chargesOf(message), consumer.attempts]).toEqual([1, [1, 2, 3, 4]]);
      expect([await world.deadLetters(), await consumer.poll()]).toEqual([[], []]);
    });

    it("H31: a producer that sends again after 6 minutes, 6 days and until the retention ends has one effect", async () => {
      const consumer = world.newConsumer({ retentionSeconds: RETENTION * 60 });
      const message = world.newMessage();
      await world.producer.send(message);
      await consumer.poll();
      for (const minutes of [6, 6 * DAY - 6, RETENTION - 6 * DAY - 0.1]) {
        await world.minutes(minutes);
        await world.producer.send(message);
        expect(await consumer.poll()).toHaveLength(1);
      }

      expect([await world.chargesOf(message), consumer.attempts]).toEqual([1, [1]]);
      expect([consumer.reported("replayed"), consumer.reported("key-expired")]).toEqual([3, 0]);
    });

    it.each([
      ["runs again", "run", 2, 0],
      ["is refused and parked", "reject", 1, 1],
    ] as const)(
      "H31: a send after the retention %s, which is reported",
      async (_, whenKeyExpired, charges, dead) => {
        const consumer = world.newConsumer({ retentionSeconds: 5 * DAY * 60, whenKeyExpired });
        const message = world.newMessage();
        await world.producer.send(message);
        await consumer.poll();
        await world.minutes(5 * DAY);

        await world.producer.send(message);
        await consumer.exhaust();

        expect([await world.chargesOf(message), (await world.deadLetters()).length]).toEqual([charges, dead]);
        expect(consumer.reported("key-expired")).toBeGreaterThan(0);
      },
    );
  },
);
