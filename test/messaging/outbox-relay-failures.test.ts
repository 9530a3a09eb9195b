// Where the relay stops in a batch of the table's stream, and what it has done until then.
import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { DynamoDBOutbox } from "onceonly";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import { clientError } from "../dynamodb/faulty-client.ts";
import { connect } from "../dynamodb/tables.ts";
import { newProcess } from "./dying-process.ts";
import { noteRequests } from "./faulty-sqs.ts";
import { newRun, type OutboxRun } from "./outbox-run.ts";
import { newOutboxWorld, type OutboxWorld } from "./outbox-world.ts";

describe.each(inject("dynamodbEngines"))("outboxRelay, where something fails, on $name", ({ endpoint }) => {
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

  const told = () => world.events.map(({ event }) => event);
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

  it("a change that cannot be read stops the batch there, while what is before it is sent and marked", async () => {
    await run.order("a1", "b1");
    await setVersion("b1", 2);
    await run.order("c1");

    const left = await world.relay();

    expect(left).toBeGreaterThan(0);
    expect(await run.unsent("a1", "b1", "c1")).toEqual([false, false, true]);
    expect(world.events.at(0)).toMatchObject({
      event: "send-failed",
      messages: 0,
      error: { code: "RECORD_CORRUPT" },
    });
    // Nor does trying again help: the image stays as it is until it is gone.
    expect(await world.relay()).toBeGreaterThan(left);
    await setVersion("b1", 1);
    await world.loseStream();
    await world.clock.advance(61_000);
    expect(await world.sweep()).toEqual({ sent: 1, failed: 0, waiting: 0 });
  });

  it("a commit that cannot be looked up stops the batch there, while what is before it is sent and marked", async () => {
    await run.order("a1", "b1", "c1");
    await world.clock.advance(10_000);

    expect(await failing("GetItem", 2)).toBeGreaterThan(0);

    expect(await run.unsent("a1", "b1", "c1")).toEqual([false, true, true]);
    expect(told()).toEqual(["send-failed", "sent"]);
    expect(await world.relay()).toBe(0);
    expect(await run.unsent("a1", "b1", "c1")).toEqual([false, false, false]);
  });

  it("where both a send and a reading fail, the batch comes again from the first of them", async () => {
    await run.order("a1", "b1", "c1");
    await setVersion("c1", 2);
    run.refuse("a1");

    const left = await world.relay();

    expect(left).toBeGreaterThan(6);
    expect(await run.unsent("a1", "b1")).toEqual([true, false]);
    await setVersion("c1", 1);
    await world.loseStream();
  });

  it("a mark that fails brings the commit again, and its messages are no second effect", async () => {
    await run.order("a1", "b1");

    expect(await failing("UpdateItem", 1)).toBeGreaterThan(0);
    expect(await run.unsent("a1", "b1")).toEqual([true, false]);
    expect(await world.relay()).toBe(0);
    await world.consume();
    expect(await run.effects("a")).toEqual(run.named("a1"));
  });

  /** A record of a version that this code does not know. */
  const setVersion = (end: string, version: number) =>
    dynamodb.send(
      new UpdateItemCommand({
        TableName: world.tableName,
        Key: { pk: { S: identify("create-order", "", run.named(end)[0] as string).recordKey } },
        UpdateExpression: "SET #version = :version",
        ExpressionAttributeNames: { "#version": "version" },
        ExpressionAttributeValues: { ":version": { N: String(version) } },
      }),
    );
});
