// What the sweeper sends, and what it leaves alone.
import { DynamoDBOutbox } from "onceonly/dynamodb";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import { newProcess } from "../kit/faults/dying-process.ts";
import { noteRequests } from "../kit/faults/faulty-sqs.ts";
import { connect } from "../kit/tables.ts";
import { withOutbox } from "../kit/with-outbox.ts";
import { newRun, type OutboxRun } from "./outbox-given.ts";
import { newOutboxWorld, type OutboxWorld } from "./outbox-world.ts";

const HOUR = 3_600_000;
const NOTHING = { sent: 0, failed: 0, waiting: 0 };

describe.each(inject("dynamodbEngines"))("outboxSweeper on $name", ({ endpoint }) => {
  let world: OutboxWorld;
  let requests: string[][];
  let run: OutboxRun;

  beforeAll(async () => {
    world = await newOutboxWorld(connect(endpoint), endpoint);
    requests = noteRequests(world.sqs);
  });
  afterAll(() => world.stop());

  beforeEach(() => {
    run = newRun(world);
  });

  afterEach(async () => {
    run.refuse();
    await world.loseStream();
    await world.clock.advance(61_000);
    await world.sweep();
    await world.consume();
    world.delivered.length = 0;
    requests.length = 0;
  });

  it("H34: the stream was off for 25 hours: all it lost is sent, once, in order, and nothing that was sent before", async () => {
    await run.order("a1", "b1");
    await world.relay();
    await run.order("a2", "b2");
    await world.clock.advance(25 * HOUR);
    await run.order("a3");
    await world.loseStream();
    await world.clock.advance(60_000);
    await run.order("a4");

    expect(await world.sweep()).toEqual({ sent: 3, failed: 0, waiting: 0 });
    expect(await world.sweep()).toEqual(NOTHING);
    await world.consume();

    // The first two come again if they are sent again: the deduplication window is long over.
    expect(world.delivered.slice().sort()).toEqual(run.named("a1", "a2", "a3", "b1", "b2"));
    expect(await run.effects("a", "b")).toEqual(run.named("a1", "a2", "a3", "b1", "b2"));
    expect(await run.unsent("a4")).toEqual([true]);
  });

  it("answers 12: sends in the order of the writers' clocks, as docs/guides/outbox.md says", async () => {
    const [first, second] = run.named("a1", "a2") as [string, string];
    const ahead = world.clock.skewed(300);
    await world.order({ key: first, messages: [world.message(first)], hostClock: ahead });
    await world.clock.advance(1);
    await world.order({ key: second, messages: [world.message(second)] });
    await world.loseStream();
    await world.clock.advance(61_000);

    await world.sweep();
    await world.consume();

    expect(world.delivered).toEqual([second, first]);
  });

  it("H34: an unsent commit waits beyond its retention, and no other operation gets its key before it is sent", async () => {
    const order25 = { key: run.prefix, messages: [world.message(`${run.prefix}a1`)] };
    await world.order(order25);
    await world.loseStream();
    await world.clock.advance(25 * HOUR);

    // Its retention of 24 hours is over: without messages it would run again, and commit another one.
    expect(await world.order(order25)).toBe("created");

    expect((await world.sweep())?.sent).toBe(1);
    await world.consume();
    expect(world.delivered).toEqual(run.named("a1"));
  });

  it("H34: messages too large for their record are found and sent as well", async () => {
    const messages = run
      .named("a1", "a2")
      .map((name) => world.message(name, { body: `${name} ${"x".repeat(300_000)}` }));
    await world.order({ key: run.prefix, messages });
    await world.loseStream();
    await world.clock.advance(61_000);

    expect((await world.sweep())?.sent).toBe(1);
    expect(await world.sweep()).toEqual(NOTHING);

    await world.consume();
    expect(await run.effects("a")).toEqual(run.named("a1", "a2"));
  });

  it("leaves commits younger than minAgeSeconds to the relay, without a request for them", async () => {
    await run.order("a1");
    await world.clock.advance(9000);

    expect(await world.sweep({ minAgeSeconds: 10 })).toEqual(NOTHING);
    expect(requests).toEqual([]);
    await world.clock.advance(1000);
    expect((await world.sweep({ minAgeSeconds: 10 }))?.sent).toBe(1);
  });

  it.each([
    ["the sweeper comes while the relay is at it", "relay", "sweep"],
    ["the relay comes while the sweeper is at it", "sweep", "relay"],
  ] as const)("H34, H35: both simultaneously, %s: each is sent once", async (_, first, second) => {
    await run.order("a1", "a2");
    await world.clock.advance(61_000);
    const invoke = { relay: world.relay, sweep: (process = newProcess()) => world.sweep({}, process) };
    let other: Promise<unknown> | undefined;
    const interrupted = newProcess(undefined, async (command) => {
      if (command !== "SendMessageBatch") return;
      other ??= invoke[second]();
      await other;
    });

    const own = await invoke[first](interrupted);

    // Who comes second leaves it to the first.
    const done = { relay: 0, sweep: { sent: 2, failed: 0, waiting: 0 } };
    const left = { relay: 0, sweep: { sent: 0, failed: 0, waiting: 2 } };
    expect([own, await other]).toEqual([done[first], left[second]]);
    expect(requests.flat().sort()).toEqual(run.named("a1", "a2"));
    await world.consume();
    expect(world.delivered).toEqual(run.named("a1", "a2"));
    expect(await run.effects("a")).toEqual(run.named("a1", "a2"));
  });

  it("H35: a group stops at a message that can't be sent, however many wait behind it, and other groups continue", async () => {
    // In one group, and so in one shard of the index.
    const many = Array.from({ length: 103 }, (_, index) => `a${index + 1}`);
    await run.order(...many, "b1");
    await world.loseStream();
    await world.clock.advance(61_000);
    run.refuse("a2");

    const report = await world.sweep();

    expect(report).toEqual({ sent: 2, failed: 1, waiting: 101 });
    await world.consume();
    expect(world.delivered.slice().sort()).toEqual(run.named("a1", "b1"));
    run.refuse();
    await world.clock.advance(60_000);
    expect(await world.sweep()).toEqual({ sent: 102, failed: 0, waiting: 0 });
    await world.consume();
    expect(await run.effects("a")).toEqual(run.named(...many));
  });

  it("H35: a commit that the relay leaves holds up only its group, and the relay continues once it is sent", async () => {
    await run.order("a1", "a2", "b1");
    run.refuse("a1");
    expect(await world.relay()).toBe(0);
    await run.order("b2");
    expect(await world.relay()).toBe(0);
    expect(await run.unsent("a1", "a2", "b1", "b2")).toEqual([true, true, false, false]);
    await world.clock.advance(61_000);

    expect(await world.sweep()).toEqual({ sent: 0, failed: 1, waiting: 1 });
    run.refuse();
    requests.length = 0;
    await world.clock.advance(91_000);
    expect(await world.sweep()).toEqual({ sent: 2, failed: 0, waiting: 0 });
    await run.order("a3");
    expect(await world.relay()).toBe(0);

    expect(requests).toEqual([run.named("a1"), run.named("a2"), run.named("a3")]);
    await world.consume();
    expect(await run.effects("a", "b")).toEqual(run.named("a1", "a2", "a3", "b1", "b2"));
  });

  describe("when messages are in separate items", () => {
    const large = (name: string) => world.message(name, { body: `${name} ${"x".repeat(8000)}` });
    const other = () => new DynamoDBOutbox({ tableName: world.tableName, client: connect(endpoint) });

    it("H35: a commit taken by another sender holds up its group, until its time is over", async () => {
      const [a1 = ""] = run.named("a1");
      await world.order({ key: a1, messages: [large(a1)] });
      await take(a1);
      await world.clock.advance(1);
      await run.order("a2", "b1");
      await world.clock.advance(61_000);

      expect(await world.sweep()).toEqual({ sent: 1, failed: 0, waiting: 2 });

      expect(await run.unsent("a1", "a2", "b1")).toEqual([true, true, false]);
      await world.clock.advance(300_000);
      expect(await world.sweep()).toEqual({ sent: 2, failed: 0, waiting: 0 });
    });

    it("H35: nothing waits for a commit that another sender has taken, and sent in between", async () => {
      const [a1 = ""] = run.named("a1");
      await world.order({ key: a1, messages: [large(a1)] });
      const unsent = await take(a1);
      await world.clock.advance(1);
      await run.order("a2");
      await world.clock.advance(61_000);
      const own = other();
      const outbox = withOutbox(own, {
        async take(...taking) {
          const taken = await own.take(...taking);
          if (taken.state === "held") await own.markSent(unsent);
          return taken;
        },
      });

      expect(await world.sweep({ outbox })).toEqual({ sent: 1, failed: 0, waiting: 0 });

      expect(await run.unsent("a1", "a2")).toEqual([false, false]);
    });

    /** Another relay has it for five minutes. */
    async function take(key: string) {
      const { recordKey } = identify("create-order", "", key);
      const now = world.clock.now();
      await other().take(recordKey, { by: "relay", id: "other", now, until: now + 300_000 });
      return (await other().load(recordKey))!;
    }
  });
});
