// Messages that wait are sealed in the table, and opened by a relay and a sweeper that have the keys.
import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { DynamoDBOutbox } from "onceonly/dynamodb";
import { decryptingOutbox, encrypted } from "onceonly/stores";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import { newQueue, receiveBodies } from "../../packages/explorer/test/aws/sqs/cases/case.ts";
import { connect } from "../kit/tables.ts";
import { type KeyService, keyService } from "../stores/privacy-given.ts";
import { newRun, type OutboxRun } from "./outbox-given.ts";
import { newOutboxWorld, type OutboxWorld } from "./outbox-world.ts";

const SECRET = "canary-0815";
const OPERATOR = { by: "ana", why: "ticket 4711" };

describe.each(inject("dynamodbEngines").slice(0, 1))("sealed messages on $name", ({ endpoint }) => {
  const dynamodb = connect(endpoint);
  let world: OutboxWorld;
  let run: OutboxRun;
  let keys: KeyService;

  beforeAll(async () => {
    world = await newOutboxWorld(dynamodb, endpoint);
  });
  afterAll(() => world.stop());

  beforeEach(() => {
    run = newRun(world);
    keys = keyService();
    world.events.length = 0;
    world.delivered.length = 0;
  });

  const plainOutbox = () => new DynamoDBOutbox({ tableName: world.tableName, client: dynamodb });
  const opened = () => ({ outbox: decryptingOutbox(plainOutbox(), { keys, clock: world.clock }) });
  const reported = () => world.events.map(({ event, by }) => `${by}: ${event}`);

  const secret = (name: string, more: object = {}) =>
    world.message(name, { body: `${name} ${SECRET}`, attributes: { card: SECRET }, ...more });

  const order = (key: string, messages = [secret(key)]) =>
    world.order({
      key,
      messages,
      inFront: (store) => encrypted(store, { keys, clock: world.clock, messages: true }),
    });

  async function tableText(): Promise<string> {
    const { Items } = await dynamodb.send(
      new ScanCommand({ TableName: world.tableName, ConsistentRead: true }),
    );
    return JSON.stringify(Items);
  }

  it("H38: the table holds nothing of a message that waits, and its destination gets it as it was given", async () => {
    const [name = ""] = run.named("a1");
    await order(name, [secret(name, { key: `${name} ${SECRET}` })]);
    const waiting = await tableText();

    expect(await world.relay(undefined, opened())).toBe(0);
    await world.consume();

    expect(waiting).toContain("sealed.1.");
    expect(waiting).not.toContain(SECRET);
    expect(world.delivered).toEqual([`${name} ${SECRET}`]);
    expect(reported()).toEqual(["relay: sent"]);
    expect(await run.unsent("a1")).toEqual([false]);
  });

  it("H38: the same holds for the sweeper, for messages in separate items, and for repeated ones", async () => {
    const [name = ""] = run.named("b1");
    const body = `${SECRET} `.repeat(40);
    const messages = Array.from({ length: 12 }, (_, index) =>
      secret(`${name}-${index}`, { body: `${body}${Math.random()}`, group: name }),
    );
    await order(name, messages);
    expect(await tableText()).not.toContain(SECRET);

    await world.clock.advance(61_000);
    expect(await world.sweep(opened())).toMatchObject({ sent: 1 });
    expect(await world.relay(undefined, opened())).toBe(0);
    await world.consume();

    expect(world.delivered).toEqual(messages.map((message) => message.body));
  });

  it("a relay without the keys sends no sealed message, and one with them does later", async () => {
    const [name = ""] = run.named("c1");
    await order(name);

    await world.relay();
    await world.consume();
    expect([reported(), world.delivered]).toEqual([["relay: send-failed"], []]);
    await world.clock.advance(3_600_000);
    await world.sweep(opened());
    await world.consume();

    expect(world.delivered).toEqual([`${name} ${SECRET}`]);
  });

  it("H39: a message sealed under a key that is gone is never sent, and holds up no other tenant's", async () => {
    const [gone = "", next = ""] = run.named("d1", "e1");
    await order(gone);
    keys.forgetAll();
    keys = keyService();
    await order(next);

    await world.relay(undefined, opened());
    await world.consume();

    expect(world.delivered).toEqual([`${next} ${SECRET}`]);
    expect(await run.unsent("d1", "e1")).toEqual([true, false]);
    const left = await plainOutbox().load(identify("create-order", "", gone).recordKey);
    await plainOutbox().drop(left!, { ...OPERATOR, messages: [0] });
    expect(await run.unsent("d1")).toEqual([false]);
  });

  it("waits if the key service does not respond", async () => {
    const [name = ""] = run.named("f1");
    await order(name);
    keys.failure = new Error("no answer");
    const slow = {
      outbox: decryptingOutbox(plainOutbox(), { keys, reuseKeysSeconds: 0, clock: world.clock }),
    };

    await world.relay(undefined, slow);
    const failed = reported();
    keys.failure = undefined;
    await world.clock.advance(3_600_000);
    await world.sweep(slow);
    await world.consume();

    expect(failed).toEqual(["relay: send-failed"]);
    expect(world.delivered).toEqual([`${name} ${SECRET}`]);
  });

  it("is redirected without being opened, and sends older messages as they are", async () => {
    const [name = "", before = ""] = run.named("g1", "h1");
    const queue = await newQueue(world.subject);
    const outbox = plainOutbox();
    await order(name);
    await world.order({ key: before, messages: [world.message(before)] });
    const commit = (await outbox.load(identify("create-order", "", name).recordKey))!;

    expect(await outbox.redirect(commit, { ...OPERATOR, messages: [0], to: { queue } })).toBe(true);
    await world.relay(undefined, opened());
    await world.clock.advance(61_000);
    await world.sweep(opened());
    const bodies = await receiveBodies(world.subject, queue);
    await world.consume();

    expect(bodies).toEqual([`${name} ${SECRET}`]);
    expect(world.delivered).toEqual([before]);
  });

  it("a message that would be too large once it is sealed is refused before anything is written", async () => {
    const [name = ""] = run.named("i1");
    const body = Array.from({ length: 8_000 }, () => Math.random()).join();
    const plain = body.repeat(2).slice(0, 300_000);

    await expect(order(name, [secret(name, { body: plain })])).rejects.toMatchObject({
      code: "OUTBOX_TRANSACTION_TOO_LARGE",
    });
  });

  it.each([
    [{ keys: undefined }, "keys"],
    [{ messages: true }, "messages"],
    [{ reuseKeysSeconds: -1 }, "reuseKeysSeconds"],
  ])("rejects %j immediately", (change, name) => {
    expect(() => decryptingOutbox(plainOutbox(), { keys, ...change } as never)).toThrow(name);
    expect(() => decryptingOutbox({} as never, { keys })).toThrow("outbox");
  });
});
