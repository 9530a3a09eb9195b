// Reads what is really stored, from the engine itself and past the fault proxy.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, paginateScan } from "@aws-sdk/lib-dynamodb";
import { ATTRIBUTES } from "../../lib/contract.ts";
import type { OrderRow } from "./observation.ts";

export interface TableNames {
  readonly orders: string;
  readonly records: string;
}

export interface Tables {
  orders(): Promise<OrderRow[]>;
  /** Claims that were won, over all records. */
  executions(): Promise<number>;
  close(): void;
}

export function openTables(endpoint: string, names: TableNames): Tables {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const base = new DynamoDBClient({ endpoint, region: "us-east-1", credentials });
  const client = DynamoDBDocumentClient.from(base);

  async function scan(TableName: string): Promise<Record<string, unknown>[]> {
    const items: Record<string, unknown>[] = [];
    for await (const page of paginateScan({ client }, { TableName, ConsistentRead: true })) {
      items.push(...(page.Items ?? []));
    }
    return items;
  }

  return {
    orders: async () => (await scan(names.orders)) as unknown as OrderRow[],
    executions: async () =>
      (await scan(names.records)).reduce((sum, record) => sum + Number(record[ATTRIBUTES.attempt] ?? 0), 0),
    close: () => base.destroy(),
  };
}
