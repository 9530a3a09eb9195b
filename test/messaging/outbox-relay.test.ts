// What the relay does with a batch of the table's stream: sends, marks, stops where it must.
import { DynamoDBOutbox } from "onceonly/dynamodb";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import { newQueue } from "../../packages/explorer/test/aws/sqs/cases/case.ts";
import { countRequests } from "../kit/counting-client.ts";
import { noteRequests } from "../kit/faults/faulty-sqs.ts";
import { connect } from "../kit/tables.ts";
import { newRun, type OutboxRun } from "./outbox-given.ts";
import { newOutboxWorld, type OutboxWorld } from "./outbox-world.ts";

describe.each(inject("dynamodbEngines"))("outboxRelay on $name", ({ endpoint }) => {
  const dynamodb = connect(endpoint);
  let world: OutboxWorld;
  let counts: ReturnType<typeof countRequests>;
  let requests: string[][];
  let run: OutboxRun;

  beforeAll(async () => {
    world = await newOutboxWorld(dynamodb, endpoint);
    counts = countRequests(dynamodb);
    requests = noteRequests(world.sqs);
  });
  afterAll(() => world.stop());

  beforeEach(() => {
    run = newRun(world);
  });

  afterEach(async () => {
    run.refuse();
    await world.relay();
    await world.clock.advance(61_000);
    await world.sweep();
    await world.consume();
    requests.length = 0;
    world.events.length = 0;
  });

  /** What the relay asked the table for; the fences of the stream's reader are not its own. */
  const asked = () => counts.commands.filter((command) => command !== "PutItem");
  const reported = () => world.events.map(({ event }) => event);

  it("sends up to 10 messages of 10 commits in a request, looks once whether a group waits, and marks each commit with one", async () => {
    await run.order(...Array.from("abcdefghijklmnopqrstuvwxy", (letter) => `${letter}1`));
    counts.reset();

    expect(await world.relay()).toBe(0);

    expect(requests.map((bodies) => bodies.length)).toEqual([10, 10, 5]);
    expect(asked()).toEqual(["GetItem", ...Array(25).fill("UpdateItem")]);
    expect(reported()).toEqual(Array(25).fill("sent"));
  });

  it("reads nothing if nothing is ordered", async () => {
    const queue = await newQueue(world.subject);
    const messages = [{ queue, key: `${run.prefix}standard`, body: "1" }];
    await world.order({ key: run.prefix, messages });
    counts.reset();

    expect(await world.relay()).toBe(0);

    expect(asked()).toEqual(["UpdateItem"]);
  });

  it("has nothing to do for its own marks and for commits without messages", async () => {
    await run.order("a1");
    await world.relay();
    await world.order({ key: `${run.prefix}none`, messages: [] });
    counts.reset();
    requests.length = 0;

    expect(await world.relay()).toBe(0);

    expect([requests, asked()]).toEqual([[], []]);
  });

  it("looks up commits older than 5 seconds, and skips those that are sent", async () => {
    await run.order("a1", "b1");
    await world.clock.advance(5000);
    const swept = await world.sweep({ minAgeSeconds: 1 });
    requests.length = 0;
    counts.reset();

    expect(await world.relay()).toBe(0);

    expect(swept?.sent).toBe(2);
    // Each tries to take one.
    expect(asked()).toEqual(["UpdateItem", "UpdateItem"]);
    expect(requests).toEqual([]);
  });

  it("H35: within a group messages leave in the order of their commits, however many there are", async () => {
    const messages = run.named("a1", "a2", "a3").map((name) => world.message(name));
    await world.order({ key: run.prefix, messages });
    await run.order("a4", "b1", "a5", "b2");

    await world.relay();
    await world.consume();

    expect(await run.effects("a")).toEqual(run.named("a1", "a2", "a3", "a4", "a5"));
    expect(await run.effects("b")).toEqual(run.named("b1", "b2"));
    expect(requests.map((bodies) => bodies.length).filter(Boolean)).toEqual([2, 2, 1, 1, 1]);
  });

  it("H35: a rejected message is left to the sweeper with its group, whichever relay gets the later ones; other groups continue", async () => {
    await run.order("a1", "b1", "b2", "c1");
    run.refuse("b1");

    expect(await world.relay()).toBe(0);
    await run.order("b3", "d1");
    expect(await world.relay()).toBe(0);
    await world.consume();

    expect(world.delivered.slice(-3)).toEqual(run.named("a1", "c1", "d1"));
    expect(reported().filter((event) => event === "send-failed")).toHaveLength(1);
    // The queue takes it again: what waits goes first.
    run.refuse();
    await run.order("b4");
    expect(await world.relay()).toBe(0);
    await world.consume();
    expect(await run.effects("b")).toEqual([]);
    await world.clock.advance(61_000);
    expect(await world.sweep()).toEqual({ sent: 4, failed: 0, waiting: 0 });
    await world.consume();
    expect(await run.effects("b")).toEqual(run.named("b1", "b2", "b3", "b4"));
    expect(await run.effects("c", "d")).toEqual(run.named("c1", "d1"));
    await run.order("b5");
    expect(await world.relay()).toBe(0);
    expect(await run.unsent("b5")).toEqual([false]);
  });

  it("D1: a commit is marked once all its messages are accepted, and accepted messages are not sent again", async () => {
    const messages = run.named("a1", "b1", "c1").map((name) => world.message(name));
    await world.order({ key: run.prefix, messages });
    run.refuse("b1");

    expect(await world.relay()).toBe(0);
    expect(await world.isUnsent(run.prefix)).toBe(true);
    requests.length = 0;
    run.refuse();
    await world.clock.advance(61_000);
    expect(await world.sweep()).toEqual({ sent: 1, failed: 0, waiting: 0 });

    expect(await world.isUnsent(run.prefix)).toBe(false);
    expect(requests).toEqual([run.named("b1")]);
    await world.consume();
    expect(world.delivered.slice(-3).sort()).toEqual(run.named("a1", "b1", "c1"));
  });

  it("H36: each commit answers for its own messages, however many those before it have", async () => {
    const messages = run.named("a1", "b1", "c1").map((name) => world.message(name));
    await world.order({ key: run.prefix, messages });
    await run.order("d1", "e1");
    run.refuse("d1");

    expect(await world.relay()).toBe(0);

    expect(await world.isUnsent(run.prefix)).toBe(false);
    expect(await run.unsent("d1", "e1")).toEqual([true, false]);
  });

  it("H35: a commit taken by another sender holds up its group, even if its messages are in separate items", async () => {
    const [a1 = ""] = run.named("a1");
    const large = world.message(a1, { body: `${a1} ${"x".repeat(8000)}` });
    await world.order({ key: a1, messages: [large] });
    const { recordKey } = identify("create-order", "", a1);
    const outbox = new DynamoDBOutbox({ tableName: world.tableName, client: dynamodb });
    const now = world.clock.now();
    await outbox.take(recordKey, { by: "sweeper", id: "other", now, until: now + 30_000 });
    await run.order("a2", "b1");

    expect(await world.relay()).toBe(0);

    expect(await run.unsent("a1", "a2", "b1")).toEqual([true, true, false]);
  });
});
