// The functions of the messages mode: the relay, the sweeper, and a consumer for each queue.
import { ChangeMessageVisibilityBatchCommand } from "@aws-sdk/client-sqs";
import { idempotentBatch, type WithIdempotency } from "onceonly";
import type { DynamoDBWrite } from "onceonly/dynamodb";
import { outboxRelay, outboxSweeper } from "onceonly/messaging";
import { systemClock } from "../../../../../lib/core/clock.ts";
import { fractionOf } from "../../demo/random.ts";
import type { Invocation } from "../asking.ts";
import { MESSAGE_QUEUES, type MessageQueue } from "../messages/message-queues.ts";
import { contextOf } from "./adapters.ts";
import { HandlerFailure } from "./handlers.ts";
import type { World } from "./world.ts";

type Run = (invocation: Invocation) => Promise<unknown>;

/** The content that a producer's commit puts in each of its messages. */
export interface MessageBody {
  readonly subject: string;
  readonly run: number;
}

interface SqsRecord {
  readonly messageId: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** How often a consumer fails before its effect, and after it. */
const FAILS = 0.1;
const FAILS_AFTER = 0.2;
const LONGEST_WORK_MS = 400;

export function createFunctions(world: World): Readonly<Record<string, Run>> {
  const { outbox, sqsClient: sqs, clock } = world;
  const sending = { outbox, sqs, clock, destinations: "any", observe: () => {} } as const;
  const relay = outboxRelay(sending);
  const sweeper = outboxSweeper({ ...sending, minAgeSeconds: 1 });
  const consumers = MESSAGE_QUEUES.map((queue) => [queue.name, consumerOf(queue, world)] as const);
  return {
    relay: (invocation) => relay(invocation.event as never, contextOf(invocation)),
    sweeper: (invocation) => sweeper(invocation.event, contextOf(invocation)),
    ...Object.fromEntries(consumers),
  };
}

function consumerOf({ name, mode, hides }: MessageQueue, world: World): Run {
  const { store, clock, clockSkewSeconds, sqsClient } = world;
  const options = {
    operation: `consume-${name}`,
    store,
    mode,
    clock,
    clockSkewSeconds,
    onRecordError: () => {},
  };
  return (invocation) => {
    const consume = idempotentBatch<SqsRecord, DynamoDBWrite>(
      (record, { idempotency }) => workOn(record, idempotency, { invocation, world }),
      {
        ...options,
        ...(hides && {
          changeVisibility: (request) => sqsClient.send(new ChangeMessageVisibilityBatchCommand(request)),
        }),
      },
    );
    return consume(invocation.event as never, contextOf(invocation));
  };
}

async function workOn(
  record: SqsRecord,
  idempotency: WithIdempotency<DynamoDBWrite>["idempotency"],
  { invocation, world }: { readonly invocation: Invocation; readonly world: World },
): Promise<unknown> {
  const chance = fractionOf(record.messageId, String(record.attributes.ApproximateReceiveCount));
  if (!invocation.isCalm) {
    await systemClock.sleep(chance * LONGEST_WORK_MS);
    if (chance < FAILS) throw new HandlerFailure("failed");
  }
  const { subject, run } = JSON.parse(record.body) as MessageBody;
  const TableName = world.effects;
  const pk = `message ${idempotency.key}`;
  const result = await idempotency.commit(
    { consumed: invocation.id },
    {
      writes: [
        { Put: { TableName, Item: { pk, sk: `run ${invocation.id}`, subject, of: run } } },
        {
          Update: {
            TableName,
            Key: { pk, sk: "count" },
            UpdateExpression: "ADD n :one",
            ExpressionAttributeValues: { ":one": 1 },
          },
        },
      ],
    },
  );
  if (!invocation.isCalm && chance < FAILS_AFTER) throw new HandlerFailure("failed-after");
  return result;
}
