// Reads the stored data from the engine itself, past the fault proxy.
import { ConditionalCheckFailedException, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, paginateScan, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { ATTRIBUTES, OUTBOX_INDEX } from "../../../../lib/contract.ts";
import { OPERATIONS } from "./order-book.ts";
import type { SagaEntry } from "./sagas/saga-observation.ts";
import type { OrderRow, PaymentRow } from "./seen.ts";

export interface TableNames {
  readonly orders: string;
  readonly payments: string;
  readonly ledger: string;
  readonly stock: string;
  readonly records: string;
}

export interface Tables {
  readonly names: TableNames;
  readonly client: DynamoDBDocumentClient;
  orders(): Promise<OrderRow[]>;
  payments(): Promise<PaymentRow[]>;
  ledger(): Promise<SagaEntry[]>;
  /** Pieces that sagas have reserved, of all articles. */
  reserved(): Promise<number>;
  /** Claims that were won, over all records of an operation. */
  executions(operation: string): Promise<number>;
  /** Commits whose messages have not been marked as sent, except for receipts. */
  unsent(): Promise<number>;
  /** Epoch ms of the end of this operation's last live lease; 0 if there is none. */
  lastLeaseEnd(operation: string): Promise<number>;
  /** Makes commits with unsent messages older: the sweeper goes by the machine's time, and would wait. */
  ageUnsent(seconds: number): Promise<void>;
  /** Makes commits of receipts that wait as old as if they had been made so long before. */
  ageReceipts(seconds: number): Promise<void>;
  close(): void;
}

type Item = Readonly<Record<string, unknown>>;

export function openTables(endpoint: string, names: TableNames): Tables {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const base = new DynamoDBClient({ endpoint, region: "us-east-1", credentials });
  const client = DynamoDBDocumentClient.from(base);

  async function scan(TableName: string, IndexName?: string): Promise<Item[]> {
    const items: Item[] = [];
    const input = IndexName ? { TableName, IndexName } : { TableName, ConsistentRead: true };
    for await (const page of paginateScan({ client }, input)) items.push(...(page.Items ?? []));
    return items;
  }
  const recordsOf = async (operation: string) =>
    (await scan(names.records)).filter((record) => String(record.pk).startsWith(`${operation}#`));

  const isReceipt = ({ pk }: Item) => String(pk).startsWith(`${OPERATIONS.receipt}#`);

  return {
    names,
    client,
    orders: async () => (await scan(names.orders)) as unknown as OrderRow[],
    payments: async () => (await scan(names.payments)) as unknown as PaymentRow[],
    ledger: async () => (await scan(names.ledger)) as unknown as SagaEntry[],
    reserved: async () => (await scan(names.stock)).reduce((sum, { reserved }) => sum + Number(reserved), 0),
    executions: async (operation) =>
      (await recordsOf(operation)).reduce((sum, record) => sum + Number(record[ATTRIBUTES.attempt] ?? 0), 0),
    unsent: async () =>
      (await scan(names.records, OUTBOX_INDEX)).filter((record) => !isReceipt(record)).length,
    async lastLeaseEnd(operation) {
      const claimed = (await recordsOf(operation)).filter(({ state }) => state === "in-progress");
      const ends = claimed.map((record) => Number(record[ATTRIBUTES.leaseEndsAt]));
      return ends.reduce((last, end) => (end > Date.now() ? Math.max(last, end) : last), 0);
    },
    async ageUnsent(seconds) {
      for (const { pk, unsentSince } of await scan(names.records, OUTBOX_INDEX)) {
        const update = new UpdateCommand({
          TableName: names.records,
          Key: { pk },
          UpdateExpression: "SET unsentSince = :aged",
          // It has not been marked as sent since it was read.
          ConditionExpression: "unsentSince = :seen",
          ExpressionAttributeValues: { ":seen": unsentSince, ":aged": Number(unsentSince) - seconds * 1000 },
        });
        await client.send(update).catch((error: unknown) => {
          if (!(error instanceof ConditionalCheckFailedException)) throw error;
        });
      }
    },
    async ageReceipts(seconds) {
      const aged = Date.now() - seconds * 1000;
      for (const { pk } of (await scan(names.records, OUTBOX_INDEX)).filter(isReceipt)) {
        const update = new UpdateCommand({
          TableName: names.records,
          Key: { pk },
          UpdateExpression: "SET unsentSince = :aged, completedAt = :aged",
          ConditionExpression: "attribute_exists(unsentSince)",
          ExpressionAttributeValues: { ":aged": aged },
        });
        await client.send(update);
      }
    },
    close: () => base.destroy(),
  };
}
