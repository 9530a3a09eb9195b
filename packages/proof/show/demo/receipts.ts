// Commits in addition to the orders, each with a message for a queue that doesn't exist and one for a queue that does. No order may
// be affected; in the end the first ones are parked, the queue is created, and they are sent again, or to another queue.
import { setTimeout as sleep } from "node:timers/promises";
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { runOnce } from "onceonly";
import { DynamoDBOutbox, DynamoDBStore } from "onceonly/dynamodb";
import { outboxSweeper } from "onceonly/messaging";
import { OPERATIONS } from "./order-book.ts";
import type { ReceiptsSeen } from "./seen.ts";
import type { Tables } from "./tables.ts";

/** The names of queues: the missing one for receipts, the one that a receipt is redirected to, and the one for copies. */
export const RECEIPT_QUEUES = { dead: "receipts", other: "receipts-by-hand", healthy: "copies" } as const;

export interface ReceiptsOptions {
  readonly tables: Pick<Tables, "names" | "client" | "ageReceipts">;
  /** A client of the engine, and one that reaches it as functions do. */
  readonly queues: SQSClient;
  readonly senders: SQSClient;
  /** The URL under which senders know a queue. */
  readonly urlOf: (queue: string) => string;
  readonly sweep: () => Promise<void>;
}

export interface Receipts {
  /** Their relay finds no queue. */
  commit(count: number): Promise<void>;
  /** Days later, all together. */
  parkAndSendAgain(): Promise<ReceiptsSeen>;
}

/** Older than relay and sweeper go on trying. */
const PARKING_AGE_SECONDS = 4 * 86_400;
const OPERATOR = { by: "the demo", why: "the queue is there now" };
/** Commits that a sweep meets while another sender works on them are left to the next one. */
const MOST_SWEEPS = 5;
const SWEEP_LEASE_SECONDS = 30;

export function createReceipts({ tables, queues, senders, urlOf, sweep }: ReceiptsOptions): Receipts {
  const { records: tableName } = tables.names;
  const store = new DynamoDBStore({ tableName, client: tables.client });
  const outbox = new DynamoDBOutbox({ tableName, client: tables.client });
  const create = (QueueName: string) => queues.send(new CreateQueueCommand({ QueueName }));

  let committed = 0;

  async function commitOne(id: string): Promise<void> {
    const options = { operation: OPERATIONS.receipt, store, leaseSeconds: 60 };
    const messages = [RECEIPT_QUEUES.dead, RECEIPT_QUEUES.healthy].map((queue) => ({
      queue: urlOf(queue),
      key: `${id} to ${queue}`,
      body: id,
    }));
    await runOnce(options, id, {}, ({ commit }) => commit(null, { messages }));
  }

  async function listed(state: "waiting" | "parked") {
    const found = [];
    for await (const { recordKey, commit } of outbox.list(state)) {
      if (recordKey.startsWith(`${OPERATIONS.receipt}#`) && commit) found.push(commit);
    }
    return found;
  }

  async function sweepAll(sweepOnce: () => Promise<unknown>): Promise<void> {
    let waiting = (await listed("waiting")).length;
    for (let [sweeps, idle] = [0, 0]; sweeps < MOST_SWEEPS && waiting > 0; ) {
      await tables.ageReceipts(PARKING_AGE_SECONDS);
      await sweepOnce();
      const left = (await listed("waiting")).length;
      // A sweeper that was killed holds the sweep for 30 seconds, and until then the next ones do nothing.
      if (left < waiting || idle > SWEEP_LEASE_SECONDS) sweeps++;
      else idle++;
      if (left === waiting) await sleep(1000);
      waiting = left;
    }
  }

  async function bodiesIn(queue: string): Promise<string[]> {
    const bodies: string[] = [];
    const QueueUrl = (await create(queue)).QueueUrl!;
    for (;;) {
      const receive = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 });
      const { Messages = [] } = await queues.send(receive);
      if (Messages.length === 0) return bodies;
      for (const { Body, ReceiptHandle } of Messages) {
        bodies.push(Body!);
        await queues.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      }
    }
  }

  return {
    async commit(count) {
      await create(RECEIPT_QUEUES.healthy);
      for (; committed < count; committed++) await commitOne(`receipt-${committed + 1}`);
    },
    async parkAndSendAgain() {
      await sweepAll(sweep);
      const parked = await listed("parked");
      await create(RECEIPT_QUEUES.dead);
      await create(RECEIPT_QUEUES.other);
      const [first, ...others] = parked;
      if (first)
        await outbox.redirect(first, {
          ...OPERATOR,
          messages: [0],
          to: { queue: urlOf(RECEIPT_QUEUES.other) },
        });
      for (const commit of others) await outbox.sendAgain(commit, OPERATOR);
      // Another process: the previous one avoids a missing queue for 30 seconds.
      await sweepAll(() => outboxSweeper({ outbox, sqs: senders, destinations: "any" })());
      return {
        committed,
        parked: parked.length,
        redirected: await bodiesIn(RECEIPT_QUEUES.other),
        sentAgain: await bodiesIn(RECEIPT_QUEUES.dead),
        copies: await bodiesIn(RECEIPT_QUEUES.healthy),
        left: (await listed("waiting")).length + (await listed("parked")).length,
      };
    },
  };
}
