// A DynamoDB client that counts what every try of every request costs, and can lose answers of requests that the
// engine carried out. Both happen inside the SDK's own retries.
import {
  type ConsumedCapacity,
  DeleteTableCommand,
  type DynamoDBClient,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";

import { connect, createTable } from "../../test/dynamodb/tables.ts";
import { type Item, refusedWriteUnits, reportedUnits } from "./capacity.ts";

export interface Tally {
  readonly requests: number;
  readonly writeUnits: number;
  readonly readUnits: number;
}

export interface MeteredClient {
  readonly client: DynamoDBClient;
  /** What was spent while `work` ran. */
  during(work: () => Promise<unknown>): Promise<Tally>;
  /** The answer of the nth request from now (1 is the next) is lost after the engine applied it. */
  loseAnswer(nth: number): void;
}

export async function meteredClient(endpoint: string): Promise<MeteredClient> {
  const transactionFactor = await transactionFactorOf(endpoint);
  const client = connect(endpoint);
  const spent = { requests: 0, writeUnits: 0, readUnits: 0 };
  let loseAt: number | undefined;
  /**
   * Tokens of transactions that were applied. DynamoDB answers a repetition by reading the items, and charges that:
   * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
   */
  const applied = new Set<string | undefined>();

  client.middlewareStack.add(
    (next) => (args) => next({ ...args, input: { ...args.input, ReturnConsumedCapacity: "TOTAL" } as never }),
    { step: "initialize", name: "askForCapacity" },
  );
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const operation = String(context.commandName).replace(/Command$/, "");
      spent.requests++;
      const lost = spent.requests === loseAt;
      try {
        const answer = await next(args);
        const output = answer.output as { ConsumedCapacity?: ConsumedCapacity };
        const { write, read } = reportedUnits(operation, output.ConsumedCapacity);
        const token = (args.input as { ClientRequestToken?: string }).ClientRequestToken;
        if (operation !== "TransactWriteItems") spent.writeUnits += write;
        else if (applied.has(token)) spent.readUnits += write * transactionFactor;
        else spent.writeUnits += write * transactionFactor;
        if (token !== undefined) applied.add(token);
        spent.readUnits += read;
        if (lost) throw connectionReset();
        return answer;
      } catch (error) {
        if (error instanceof Error && error.name === "ConditionalCheckFailedException") {
          const { Item = {} } = error as { Item?: Item };
          spent.writeUnits += refusedWriteUnits(Item);
        }
        throw error;
      }
    },
    { step: "deserialize", priority: "high", name: "meterTry" },
  );

  return {
    client,
    async during(work) {
      const before = { ...spent };
      await work();
      return {
        requests: spent.requests - before.requests,
        writeUnits: spent.writeUnits - before.writeUnits,
        readUnits: spent.readUnits - before.readUnits,
      };
    },
    loseAnswer(nth) {
      loseAt = spent.requests + nth;
    },
  };
}

/** As Node reports it when the other side hangs up before it answers. */
function connectionReset(): Error {
  return Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
}

/** DynamoDB charges 2 units for each item of a transaction; DynamoDB Local reports 1. */
async function transactionFactorOf(endpoint: string): Promise<number> {
  const client = connect(endpoint);
  const TableName = await createTable(client);
  const answer = await client.send(
    new TransactWriteItemsCommand({
      TransactItems: [{ Put: { TableName, Item: { pk: { S: "probe" } } } }],
      ReturnConsumedCapacity: "TOTAL",
    }),
  );
  await client.send(new DeleteTableCommand({ TableName }));
  client.destroy();
  return 2 / reportedUnits("TransactWriteItems", answer.ConsumedCapacity).write;
}
