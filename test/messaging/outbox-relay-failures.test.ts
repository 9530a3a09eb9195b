// The change at which the relay stops in a batch of the table's stream, and the work that it has done until then.
import { type AttributeValue, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { DynamoDBOutbox } from "onceonly/dynamodb";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import { newProcess } from "../kit/faults/dying-process.ts";
import { clientError } from "../kit/faults/faulty-client.ts";
import { noteRequests } from "../kit/faults/faulty-sqs.ts";
import { connect } from "../kit/tables.ts";
import { newRun, type OutboxRun } from "./outbox-given.ts";
import { newOutboxWorld, type OutboxWorld } from "./outbox-world.ts";

describe.each(inject("dynamodbEngines"))("outboxRelay, when something fails, on $name", ({ endpoint }) => {
  const dynamodb = connect(endpoint);
  let world: OutboxWorld;
  let requests: string[][];
  let run: OutboxRun;

  beforeAll(async () => {
    world = await newOutboxWorld(dynamodb, endpoint);
    requests = noteRequests(world.sqs);
  });
  afterAll(() => world.stop());

  beforeEach(() => {
    run = newRun(world);
  });

  afterEach(async () => {
    run.refuse();
    await world.relay();
    await world.consume();
    requests.length = 0;
    world.events.length = 0;
  });

  const reported = () => world.events.map(({ event }) => event);
  /** A relay whose request of that name fails, the one of that number. */
  const failing = (command: string, number: number) => {
    const process = newProcess();
    const client = process.clientOf(dynamodb);
    let seen = 0;
    const send = (request: UpdateItemCommand) =>
      request.constructor.name === `${command}Command` && ++seen === number
        ? Promise.reject(clientError("InternalServerError", {}, 500))
        : client.send(request);
    const outbox = new DynamoDBOutbox({
      tableName: world.tableName,
      client: { config: client.config, send },
    });
    return world.relay(process, { outbox });
  };

  it("a change that can't be read is looked up: if it was repaired in between it is sent, and nothing waits for it", async () => {
    await run.order("a1", "b1");
    await damage("b1");
    await run.order("c1");
    const changes = await changesWhere("b1", ({ messages }) => messages?.S === "[{");
    await mend("b1");

    expect(await world.relayChanges(changes)).toEqual([]);

    expect(await run.unsent("a1", "b1", "c1")).toEqual([false, false, false]);
    expect(reported()).toEqual(["sent", "sent", "sent"]);
  });

  it("a permanently broken commit holds up nothing: it is parked, reported, and reported again by each sweep", async () => {
    await run.order("a1", "b1");
    await damage("b1");
    await run.order("c1");

    expect(
      await world.relayChanges(await changesWhere("b1", ({ messages }) => messages?.S === "[{")),
    ).toEqual([]);

    expect(await run.unsent("a1", "b1", "c1")).toEqual([false, true, false]);
    expect(world.events.find(({ event }) => event === "parked")).toMatchObject({
      messages: 0,
      error: { code: "RECORD_CORRUPT" },
    });
    await world.clock.advance(61_000);
    world.events.length = 0;
    expect(await world.sweep()).toEqual({ sent: 0, failed: 0, waiting: 0 });
    expect(world.backlogs.at(-1)).toMatchObject({ waiting: 0, parked: 1 });
    expect(reported()).toEqual([]);
  });

  it("a later version's commit is left to that version: neither parked, nor in the way", async () => {
    await run.order("a1", "b1");
    await setVersion("b1", 2);
    await run.order("c1");

    expect(await world.relayChanges(await changesWhere("b1", ({ version }) => version?.N === "2"))).toEqual(
      [],
    );
    await world.clock.advance(61_000);
    expect(await world.sweep()).toEqual({ sent: 0, failed: 1, waiting: 0 });

    expect(await run.unsent("a1", "b1", "c1")).toEqual([false, true, false]);
    expect(reported()).not.toContain("parked");
    await setVersion("b1", 1);
    expect(await world.sweep()).toEqual({ sent: 1, failed: 0, waiting: 0 });
  });

  it("a broken commit that can't be parked just now comes again", async () => {
    await run.order("b1");
    await damage("b1");
    await world.clock.advance(10_000);

    // The first one takes it.
    expect(await failing("UpdateItem", 2)).toBeGreaterThan(0);

    expect(await run.unsent("b1")).toEqual([true]);
    expect(world.events).toMatchObject([
      { event: "send-failed", messages: 0, error: { code: "STORE_UNAVAILABLE" } },
    ]);
    expect(await world.relay()).toBe(0);
    expect(world.events.find(({ event }) => event === "parked")).toMatchObject({
      error: { code: "RECORD_CORRUPT" },
    });
  });

  it("a change that does not name its record is reported, holds up nothing, and its commit is left to the sweeper", async () => {
    await run.order("a1", "b1", "c1");
    const changes = (await world.nextChanges()).map((each) => {
      const { pk, ...NewImage } = each.dynamodb.NewImage ?? {};
      return pk?.S === recordKeyOf("b1") ? { ...each, dynamodb: { ...each.dynamodb, NewImage } } : each;
    });

    expect(await world.relayChanges(changes)).toEqual([]);

    expect(await run.unsent("a1", "b1", "c1")).toEqual([false, true, false]);
    expect(world.events.filter(({ event }) => event === "send-failed")).toMatchObject([
      { operation: "", messages: 0, error: { code: "RECORD_CORRUPT" } },
    ]);
    await world.clock.advance(61_000);
    expect(await world.sweep()).toEqual({ sent: 1, failed: 0, waiting: 0 });
  });

  it("a commit whose list of messages is empty is over", async () => {
    await run.order("a1");
    await damage("a1", "[]");
    const changes = await changesWhere("a1", ({ messages }) => messages?.S === "[]");

    expect(await world.relayChanges(changes)).toEqual([]);

    expect(await run.unsent("a1")).toEqual([false]);
    expect(world.events).toMatchObject([{ event: "sent", messages: 0 }]);
  });

  it("a commit that can't be taken stops the batch there, while the commits before it are sent and marked", async () => {
    await run.order("a1", "b1", "c1");
    await world.clock.advance(10_000);

    // The first takes a1.
    expect(await failing("UpdateItem", 2)).toBeGreaterThan(0);

    expect(await run.unsent("a1", "b1", "c1")).toEqual([false, true, true]);
    expect(reported().sort()).toEqual(["send-failed", "sent"]);
    expect(await world.relay()).toBe(0);
    expect(await run.unsent("a1", "b1", "c1")).toEqual([false, false, false]);
  });

  it("if it is unknown whether a group waits, nothing of it is sent", async () => {
    await run.order("a1", "b1");

    expect(await failing("GetItem", 1)).toBeGreaterThan(0);

    expect(await run.unsent("a1", "b1")).toEqual([true, true]);
    expect(await world.relay()).toBe(0);
    expect(await run.unsent("a1", "b1")).toEqual([false, false]);
  });

  it("a mark that fails brings the commit again, and its messages have no second effect", async () => {
    await run.order("a1", "b1");

    expect(await failing("UpdateItem", 1)).toBeGreaterThan(0);
    expect(await run.unsent("a1", "b1")).toEqual([true, false]);
    expect(await world.relay()).toBe(0);
    await world.consume();
    expect(await run.effects("a")).toEqual(run.named("a1"));
  });

  const recordKeyOf = (end: string) => identify("create-order", "", run.named(end)[0] as string).recordKey;
  /** Without those images of one record that look otherwise. */
  const changesWhere = async (
    end: string,
    isMeant: (image: Readonly<Record<string, AttributeValue>>) => boolean,
  ) =>
    (await world.nextChanges()).filter(
      ({ dynamodb }) => dynamodb.Keys.pk?.S !== recordKeyOf(end) || isMeant(dynamodb.NewImage ?? {}),
    );
  const change = (end: string, name: string, value: AttributeValue) =>
    dynamodb.send(
      new UpdateItemCommand({
        TableName: world.tableName,
        Key: { pk: { S: recordKeyOf(end) } },
        UpdateExpression: "SET #name = :value",
        ExpressionAttributeNames: { "#name": name },
        ExpressionAttributeValues: { ":value": value },
      }),
    );
  /** A record of a version that this code does not know. */
  const setVersion = (end: string, version: number) => change(end, "version", { N: String(version) });
  const damage = (end: string, messages = "[{") => change(end, "messages", { S: messages });
  const mend = (end: string) => {
    const [name = ""] = run.named(end);
    return change(end, "messages", { S: JSON.stringify([world.message(name)]) });
  };
});
