// A shop on real engines. Orders commit messages to a DynamoDB table. Relay and sweeper send them to a FIFO queue of a local
// SQS, by the table's stream and index. A consumer takes them. One clock moves leases, retention and queues.
import { randomUUID } from "node:crypto";
import {
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { type OutgoingMessage, type RunOnceOptions, runOnce, type Store } from "onceonly";
import { DynamoDBOutbox, DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import {
  type OutboxBacklogEvent,
  type OutboxCommitEvent,
  type OutboxOptions,
  type OutboxSweeperOptions,
  outboxRelay,
  outboxSweeper,
  type SweepReport,
} from "onceonly/messaging";
import type { Clock } from "onceonly/store-kit";
import { fakeClock } from "onceonly/testing";
import { identify } from "../../lib/core/identity.ts";
import { newFifo } from "../../packages/explorer/test/aws/sqs/cases/case.ts";
import { sdkSubject, sqsClient } from "../../packages/explorer/test/aws/sqs/cases/sdk-subject.ts";
import { startSqs } from "../../packages/local/lib/sqs/start-sqs.ts";
import { newProcess, type Process } from "../kit/faults/dying-process.ts";
import { type Change, readStream } from "../kit/table-stream.ts";
import { createOutboxTable } from "../kit/tables.ts";
import { timeless } from "../kit/time/timeless.ts";
import { newConsumer } from "./consumer-given.ts";

export type OutboxWorld = Awaited<ReturnType<typeof newOutboxWorld>>;

export interface Order {
  /** The idempotency key of the request. */
  readonly key: string;
  readonly mode?: "claimed" | "optimistic";
  readonly messages: readonly OutgoingMessage[];
  /** The clock of the host that commits. */
  readonly hostClock?: Clock;
  /** What stands in front of the store. */
  readonly inFront?: (store: Store<DynamoDBWrite>) => Store<DynamoDBWrite>;
}

export async function newOutboxWorld(
  dynamodb: DynamoDBClient,
  endpoint: string,
  consumerOptions?: Parameters<typeof newConsumer>[5],
) {
  const tableName = await createOutboxTable(dynamodb);
  const nextChanges = await readStream(dynamodb, endpoint, tableName);
  const clock = fakeClock();
  const engine = await startSqs({ clock });
  // Faults of what relay and sweeper send leave the consumer alone.
  const [sqs, receiver] = [sqsClient(engine.endpoint), sqsClient(engine.endpoint)];
  const subject = sdkSubject({ endpoint: engine.endpoint, clock, stop: () => engine.stop() });
  const queue = await newFifo(subject, { MessageRetentionPeriod: "1209600" });
  const events: OutboxCommitEvent[] = [];
  const backlogs: OutboxBacklogEvent[] = [];
  /** The bodies in the order of their delivery. */
  const delivered: string[] = [];
  /** The changes of the stream that the relay has not settled. */
  let backlog: Change[] = [];

  const optionsIn = (process: Process, changes: Partial<OutboxOptions> = {}): OutboxOptions => ({
    outbox: new DynamoDBOutbox({ tableName, client: process.clientOf(dynamodb) }),
    destinations: "any",
    sqs: process.clientOf(sqs),
    clock: timeless(clock),
    random: { token: randomUUID, fraction: () => 1 },
    observe(event) {
      if (event.event === "backlog") backlogs.push(event);
      else if (event.event !== "send") events.push(event);
    },
    ...changes,
  });

  const readItem = async (pk: string) => {
    const request = { TableName: tableName, Key: { pk: { S: pk } }, ConsistentRead: true };
    const { Item } = await dynamodb.send(new GetItemCommand(request));
    return Item && unmarshall(Item);
  };

  const consume = newConsumer(dynamodb, tableName, receiver, queue, clock, consumerOptions);

  /** As DynamoDB deletes what has expired, sooner or later. */
  async function deleteExpired(): Promise<void> {
    const { Items = [] } = await dynamodb.send(new ScanCommand({ TableName: tableName }));
    for (const { pk, expiresAt } of Items) {
      if (Number(expiresAt?.N ?? Number.POSITIVE_INFINITY) * 1000 > clock.now()) continue;
      await dynamodb.send(new DeleteItemCommand({ TableName: tableName, Key: { pk: pk! } }));
    }
  }

  return {
    deleteExpired,
    outbox: new DynamoDBOutbox({ tableName, client: dynamodb }),
    tableName,
    clock,
    sqs,
    queue,
    events,
    backlogs,
    delivered,
    subject,

    /** `a1` is the first message of group `a`; its body is its key, or begins with it. */
    message: (name: string, more: object = {}): OutgoingMessage => ({
      queue,
      key: name,
      group: name.replace(/\d+$/, ""),
      body: name,
      ...more,
    }),

    /** A request that commits an order row and its messages. */
    order(
      { key, mode = "claimed", messages, hostClock = clock, inFront = (store) => store }: Order,
      process = newProcess(),
    ): Promise<unknown> {
      const store = inFront(new DynamoDBStore({ tableName, client: process.clientOf(dynamodb) }));
      const options: RunOnceOptions<DynamoDBWrite> = {
        operation: "create-order",
        store,
        leaseSeconds: 30,
        clock: hostClock,
        mode,
      };
      const row = { Put: { TableName: tableName, Item: { pk: `order ${key}` } } };
      return process.run(() =>
        runOnce(options, key, {}, ({ commit }) => commit("created", { writes: [row], messages })),
      );
    },

    /** Whether the commit of an order waits to be sent. */
    isUnsent: async (key: string): Promise<boolean> =>
      (await readItem(identify("create-order", "", key).recordKey))?.unsentSince !== undefined,

    hasOrderRow: async (key: string): Promise<boolean> => (await readItem(`order ${key}`)) !== undefined,

    effectsOf: async (group: string): Promise<string[]> =>
      ((await readItem(`effects ${group}`))?.effects as string[] | undefined) ?? [],

    /**
     * One invocation of the relay with all that it has not settled, as an event source mapping does it. Answers how many
     * changes are left: all, where the process dies or its answer is lost.
     */
    async relay(
      process = newProcess(),
      changes: Partial<OutboxOptions> = {},
      isAnswerLost = false,
    ): Promise<number> {
      backlog.push(...(await nextChanges()));
      const handler = outboxRelay(optionsIn(process, changes));
      const answer = await process.run(() => handler({ Records: backlog }));
      if (answer === undefined || isAnswerLost) return backlog.length;
      const [first] = answer.batchItemFailures;
      const settled = backlog.findIndex(({ dynamodb }) => dynamodb.SequenceNumber === first?.itemIdentifier);
      backlog = first === undefined ? [] : backlog.slice(settled);
      return backlog.length;
    },

    /** One invocation of the relay with these changes; answers with what it did not settle. */
    relayChanges: async (changes: readonly Change[]) =>
      (await outboxRelay(optionsIn(newProcess()))({ Records: changes })).batchItemFailures,

    /** The changes since it was last asked for, for tests that invoke the relay themselves. */
    nextChanges,

    /** What the stream holds is gone, as after its 24 hours. */
    async loseStream(): Promise<void> {
      await nextChanges();
      backlog = [];
    },

    sweep: (
      changes: Partial<OutboxSweeperOptions> = {},
      process = newProcess(),
      context?: Parameters<ReturnType<typeof outboxSweeper>>[1],
    ): Promise<SweepReport | undefined> =>
      process.run(() => outboxSweeper({ ...optionsIn(process), ...changes })({}, context)),

    /** Works off the queue. */
    async consume(): Promise<void> {
      delivered.push(...(await consume()));
    },

    async stop(): Promise<void> {
      for (const client of [sqs, receiver]) client.destroy();
      await subject.stop();
    },
  };
}
