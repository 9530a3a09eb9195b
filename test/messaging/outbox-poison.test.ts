// An incoming message that ends badly after its handler has committed: what it committed is sent all the same.
import { randomUUID } from "node:crypto";
import { DeleteMessageCommand, type Message, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import type { Context, SQSRecord } from "aws-lambda";
import { type BatchOptions, idempotentBatch, PermanentError } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { fakeLambdaContext } from "onceonly/testing";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { sqsRecord } from "../../packages/explorer/lib/aws/event-sources/sqs-record.ts";
import type { ReceivedMessage } from "../../packages/explorer/lib/aws/sqs/operations.ts";
import { newFifo, receiveBodies, send } from "../../packages/explorer/test/aws/sqs/cases/case.ts";
import { withDeadLetters } from "../../packages/explorer/test/aws/sqs/cases/dead-letter-given.ts";
import { connect } from "../kit/tables.ts";
import { answered } from "../lambda/batch/given.ts";
import { newOutboxWorld, type OutboxWorld } from "./outbox-world.ts";

const MAX_RECEIVES = 3;
const VISIBILITY_SECONDS = 30;

describe.each(inject("dynamodbEngines"))("an incoming message on $name", ({ endpoint }) => {
  const dynamodb = connect(endpoint);
  let world: OutboxWorld;
  let incoming: string;
  let deadLetters: string;

  beforeAll(async () => {
    world = await newOutboxWorld(dynamodb, endpoint);
    const pair = await withDeadLetters(world.subject, newFifo, MAX_RECEIVES);
    [incoming, deadLetters] = [pair.queue, pair.deadLetters];
  });
  afterAll(() => world.stop());

  /** Delivers what is in the queue until it is worked off or parked; `"lost"` answers never reach the queue. */
  async function deliver(
    changes: Partial<BatchOptions<SQSRecord, DynamoDBWrite>>,
    work: (commit: () => Promise<unknown>) => unknown,
    answer: "heard" | "lost" = "heard",
  ): Promise<number> {
    let deliveries = 0;
    const handler = idempotentBatch<SQSRecord, DynamoDBWrite>(
      ({ body }, { idempotency }) =>
        work(() => idempotency.commit(null, { messages: [world.message(`${body}1`)] })),
      {
        operation: "take-order",
        store: new DynamoDBStore({ tableName: world.tableName, client: dynamodb }),
        clock: world.clock,
        onRecordError: () => {},
        ...changes,
      },
    );
    for (let receives = 0; receives <= MAX_RECEIVES; receives++) {
      const messages = await receive();
      deliveries += messages.length;
      const Records = messages.map(
        (message) =>
          sqsRecord(
            message as ReceivedMessage,
            "arn:aws:sqs:us-east-1:000000000000:in.fifo",
            "us-east-1",
          ) as SQSRecord,
      );
      const context = fakeLambdaContext({ clock: world.clock }) as Context;
      const { batchItemFailures } = await answered(handler({ Records }, context));
      if (answer === "heard" && batchItemFailures.length === 0) await remove(messages);
      await world.clock.advance(VISIBILITY_SECONDS * 1000);
    }
    return deliveries;
  }

  async function receive(): Promise<Message[]> {
    const names = { MessageSystemAttributeNames: ["All" as const], MessageAttributeNames: ["All"] };
    const request = {
      QueueUrl: incoming,
      VisibilityTimeout: VISIBILITY_SECONDS,
      MaxNumberOfMessages: 10,
      ...names,
    };
    return (await world.sqs.send(new ReceiveMessageCommand(request))).Messages ?? [];
  }

  async function remove(messages: readonly Message[]): Promise<void> {
    for (const { ReceiptHandle } of messages) {
      await world.sqs.send(new DeleteMessageCommand({ QueueUrl: incoming, ReceiptHandle }));
    }
  }

  const begin = async () => {
    const body = `${randomUUID()}-`;
    await send(world.subject, incoming, {
      MessageBody: body,
      MessageGroupId: body,
      MessageDeduplicationId: body,
    });
    return body;
  };
  const parked = async () => receiveBodies(world.subject, deadLetters);
  const sent = async (body: string) => {
    await world.relay();
    await world.consume();
    return world.effectsOf(body);
  };
  const fail = (error: Error) => async (commit: () => Promise<unknown>) => {
    await commit();
    throw error;
  };

  it("H37: acknowledged as poison after its commit: the outgoing message is sent, once", async () => {
    const body = await begin();

    const work = fail(new PermanentError("never"));
    expect(await deliver({ whenFinalError: "acknowledge" }, work)).toBe(1);

    expect(await parked()).not.toContain(body);
    expect(await sent(body)).toEqual([`${body}1`]);
  });

  it("H37: a failure after its commit, whose retry replays: the outgoing message is sent, once", async () => {
    const body = await begin();

    const deliveries = await deliver({}, fail(new Error("after the commit")));

    expect(deliveries).toBe(2);
    expect(await sent(body)).toEqual([`${body}1`]);
  });

  it.each(["relay", "sweeper"] as const)(
    "H37: parked in the dead-letter queue after its commit: the outgoing message is sent by the %s, once",
    async (by) => {
      const body = await begin();

      const deliveries = await deliver({}, (commit) => commit(), "lost");

      expect(deliveries).toBe(MAX_RECEIVES);
      expect(await parked()).toContain(body);
      if (by === "sweeper") {
        await world.loseStream();
        expect((await world.sweep())?.sent).toBe(1);
      }
      expect(await sent(body)).toEqual([`${body}1`]);
    },
  );

  it("H36: parked without having committed: nothing is sent", async () => {
    const body = await begin();

    const deliveries = await deliver({}, () => {
      throw new Error("before the commit");
    });

    expect(deliveries).toBe(MAX_RECEIVES);
    expect(await parked()).toContain(body);
    expect(await sent(body)).toEqual([]);
  });
});
