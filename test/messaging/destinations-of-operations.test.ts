// A role that may only write the records of its own operation has nothing sent where another operation sends.

import { type OutgoingMessage, runOnce } from "onceonly";
import {
  type OutboxCommitEvent,
  type OutboxEvent,
  type OutboxOptions,
  outboxRelay,
  outboxSweeper,
} from "onceonly/messaging";
import { fakeClock, MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import type { StoredMessage } from "../../lib/core/messages/outgoing-message.ts";
import { timeless } from "../kit/time/timeless.ts";

const queueOf = (name: string) => `https://sqs.eu-central-1.amazonaws.com/123456789012/${name}.fifo`;
const [PAYMENTS, MAILS] = [queueOf("payments"), queueOf("mails")];
const to = (queue: string, key: string): OutgoingMessage => ({ queue, key, group: "order-7", body: key });

type Input = { QueueUrl: string; Entries: { Id: string; MessageBody: string }[] };

function newWorld(destinations: OutboxOptions["destinations"], more: Partial<OutboxOptions> = {}) {
  const clock = fakeClock();
  const store = new MemoryStore();
  const sent: string[] = [];
  const events: OutboxEvent[] = [];
  const network = { isDown: false };
  const sqs = {
    config: {},
    send: async ({ input: { QueueUrl, Entries } }: { input: Input }) => {
      if (network.isDown) throw new Error("no answer");
      sent.push(
        ...Entries.map(({ MessageBody }) => `${MessageBody} to ${/[\w-]+(?=\.fifo)/.exec(QueueUrl)}`),
      );
      return { Successful: Entries.map(({ Id }) => ({ Id, MessageId: Id })) };
    },
  };
  const options: OutboxOptions = {
    outbox: store.outbox,
    destinations,
    sqs,
    clock: timeless(clock),
    random: { token: () => "token", fraction: () => 1 },
    observe: (event) => event.event === "send" || events.push(event),
    ...more,
  };
  return {
    clock,
    store,
    sent,
    network,
    /** Who did what to which operation's messages, without each sweep's own event. */
    reported: () =>
      events
        .filter((event): event is OutboxCommitEvent => event.event !== "backlog")
        .map(({ event, by, operation, error }) => {
          const { failed = [] } = Object(error) as { failed?: { code: string }[] };
          return [by, event, operation, ...failed.map(({ code }) => code)].join(" ");
        }),
    async commit(operation: string, messages: OutgoingMessage[], scope?: string) {
      const settings = { operation, store, clock, leaseSeconds: 30, ...(scope && { scope }) };
      await runOnce(settings, messages[0]!.key, {}, ({ commit }) => commit("done", { messages }));
      await clock.advance(1);
    },
    /** As whoever may write the records of an operation does it. */
    plant: (recordKey: string, ...messages: unknown[]) =>
      store.outbox.add({
        recordKey,
        token: "planted",
        committedAt: clock.now(),
        messages: messages as StoredMessage[],
      }),
    relay: () =>
      outboxRelay(options)({
        Records: store.outbox.changes.map((change) => ({
          dynamodb: { SequenceNumber: "1" },
          toString: () => change,
        })),
      }),
    async sweep() {
      await clock.advance(3_600_000);
      return outboxSweeper(options)();
    },
  };
}

describe("destinations of each operation", () => {
  const OF_EACH = { pay: [PAYMENTS], mail: [MAILS] };

  it("H75: sends nothing to another operation's queue, and reports it, until it is parked", async () => {
    const world = newWorld(OF_EACH, { parkAfterTries: 2 });
    await world.commit("mail", [to(PAYMENTS, "planted"), to(MAILS, "mail")]);
    await world.commit("pay", [to(PAYMENTS, "paid")]);

    await world.relay();

    // What is refused does not hold up its group, nor the rest of its commit.
    expect(world.sent).toEqual(["mail to mails", "paid to payments"]);
    expect(world.reported().sort()).toEqual(["relay send-failed mail DestinationRefused", "relay sent pay"]);
    await world.sweep();
    expect(world.reported().at(-1)).toBe("sweeper parked mail DestinationRefused");
    expect(world.sent).toHaveLength(2);
    expect(await world.store.outbox.count()).toEqual({ waiting: 0, parked: 1 });
  });

  it("H75: with one list every operation may send there, and none anywhere else", async () => {
    const world = newWorld([PAYMENTS]);
    await world.commit("pay", [to(PAYMENTS, "paid")]);
    await world.commit("mail", [to(PAYMENTS, "mailed"), to(MAILS, "planted")]);

    await world.relay();

    expect([...world.sent].sort()).toEqual(["mailed to payments", "paid to payments"]);
    expect(world.reported().sort()).toEqual(["relay send-failed mail DestinationRefused", "relay sent pay"]);
  });

  it.each<[string, OutboxOptions["destinations"], operation: string, scope: string, isSent: boolean]>([
    ["of its own", OF_EACH, "pay", "", true],
    ["of an operation whose name begins so", { "pay-out": [PAYMENTS], pay: [MAILS] }, "pay", "", false],
    ["of an operation that its name begins with", { pay: [PAYMENTS] }, "pay-out", "", false],
    ["of an operation with a separator in its name", { "pay#eu": [PAYMENTS] }, "pay#eu", "", true],
    ["of one whose name looks like its scope too", { "pay#eu": [PAYMENTS] }, "pay", "eu", false],
    ["of one that has the separator as it is escaped", { "pay#eu": [PAYMENTS] }, "pay%23eu", "", false],
    ["that it shares", { mail: [PAYMENTS], pay: [MAILS, PAYMENTS] }, "pay", "", true],
    ["of others only, being unknown", OF_EACH, "refund", "", false],
    ["of others only, named as a property of every object", OF_EACH, "toString", "", false],
    [
      "by another spelling of its URL",
      { pay: [PAYMENTS.replace("sqs.eu-central-1", "eu-central-1.queue")] },
      "pay",
      "",
      true,
    ],
  ])("H75: to a queue %s", async (_, destinations, operation, scope, isSent) => {
    const world = newWorld(destinations);
    await world.commit(operation, [to(PAYMENTS, "m")], scope);

    await world.relay();

    expect(world.sent).toEqual(isSent ? ["m to payments"] : []);
  });

  it("H75: sends nothing of a record whose key names no operation", async () => {
    const world = newWorld(OF_EACH);
    for (const recordKey of ["pay", "", "#pay#", "%#", " pay##x"]) world.plant(recordKey, to(PAYMENTS, "m"));

    await world.relay();
    await world.sweep();

    expect(world.sent).toEqual([]);
    expect(world.reported()).toEqual(Array(10).fill(expect.stringContaining("DestinationRefused")));
  });

  it("H75: a rejected message blocks no other one when a group waits for its queue", async () => {
    const world = newWorld(OF_EACH);
    world.network.isDown = true;
    await world.commit("pay", [to(PAYMENTS, "paid-1")]);
    await world.relay();
    world.network.isDown = false;
    await world.commit("mail", [to(PAYMENTS, "planted")]);
    await world.commit("pay", [to(PAYMENTS, "paid-2")]);

    await world.relay();
    await world.sweep();
    await world.sweep();

    expect(world.sent).toEqual(["paid-1 to payments", "paid-2 to payments"]);
    expect(await world.store.outbox.count()).toEqual({ waiting: 1, parked: 0 });
    expect(await world.store.outbox.readNotes()).toBe("{}");
  });

  it.each<[string, unknown]>([
    ["an empty object", {}],
    ["an operation without a destination", { pay: [] }],
    ["an operation without one among others", { mail: [MAILS], pay: [] }],
    ["an operation with nothing", { pay: undefined }],
    ["a destination that is undefined", { pay: [undefined] }],
    ["one address instead of a list", { pay: PAYMENTS }],
    ["what is no address", { pay: ["payments.fifo?"] }],
    ["an operation without a name", { "": [PAYMENTS] }],
    ["a name that is too long", { ["a".repeat(65)]: [PAYMENTS] }],
    ["a map", new Map([["pay", [PAYMENTS]]])],
  ])("rejects %s immediately", (_, destinations) => {
    const { outbox } = new MemoryStore();
    for (const make of [outboxRelay, outboxSweeper]) {
      expect(() => make({ outbox, destinations: destinations as string[] })).toThrow(
        'an object with such an array for each operation that may send, or "any" to send wherever a record says',
      );
    }
  });
});

describe.each([["any" as const], [{ pay: [PAYMENTS] }]])(
  "a stored message that no destination accepts, %j",
  (destinations) => {
    it.each<[string, unknown]>([
      ["a number as its queue", { queue: 5, key: "k", group: "g", body: "" }],
      ["an object as its queue", { queue: { toString: 5 }, key: "k", group: "g", body: "" }],
      ["a list as its topic", { topic: [{ toString: 5 }], key: "k", group: "g", body: "" }],
      ["what is no object", 5],
      ["nothing", null],
    ])("H72: with %s, is parked and reported, and the others are sent once", async (_, poison) => {
      const world = newWorld(destinations);
      world.plant("pay##1", to(PAYMENTS, "beside"), poison);
      await world.commit("pay", [to(PAYMENTS, "later")]);

      expect(await world.relay()).toEqual({ batchItemFailures: [] });
      await world.sweep();

      expect(world.sent).toEqual(["beside to payments", "later to payments"]);
      expect(world.reported().sort()).toEqual(["relay parked pay MessageInvalid", "relay sent pay"]);
      expect(await world.store.outbox.count()).toEqual({ waiting: 0, parked: 1 });
    });
  },
);
