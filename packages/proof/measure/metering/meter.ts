// Counts what every try of every request of the clients under it costs, inside the SDK's own retries.
import {
  type BatchExecuteStatementInput,
  type BatchExecuteStatementOutput,
  type ConsumedCapacity,
  DeleteTableCommand,
  type DynamoDBClient,
  TransactWriteItemsCommand,
  type TransactWriteItemsInput,
} from "@aws-sdk/client-dynamodb";
import { connect, createTable } from "../../../../test/kit/tables.ts";
import {
  type Item,
  refusedTransactionUnits,
  refusedWriteUnits,
  reportedUnits,
  statementUnits,
  transactedItemUnits,
} from "./capacity.ts";

export interface Tally {
  readonly requests: number;
  readonly writeUnits: number;
  readonly readUnits: number;
}

export class Meter {
  readonly #transactionFactor: number;
  readonly #spent = { requests: 0, writeUnits: 0, readUnits: 0 };
  /**
   * Tokens of transactions that were applied. DynamoDB answers a repetition by reading the items, and charges that:
   * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
   */
  readonly #applied = new Set<string>();

  constructor(transactionFactor: number) {
    this.#transactionFactor = transactionFactor;
  }

  get spent(): Tally {
    return { ...this.#spent };
  }

  /** What was spent while `work` ran. */
  async during(work: () => Promise<unknown>): Promise<Tally> {
    const before = this.spent;
    await work();
    const after = this.spent;
    return {
      requests: after.requests - before.requests,
      writeUnits: after.writeUnits - before.writeUnits,
      readUnits: after.readUnits - before.readUnits,
    };
  }

  /** From now on the client's requests count. */
  attach(client: DynamoDBClient): void {
    client.middlewareStack.add(
      (next) => (args) =>
        next({ ...args, input: { ...args.input, ReturnConsumedCapacity: "TOTAL" } as never }),
      { step: "initialize", name: "askForCapacity" },
    );
    client.middlewareStack.add(
      (next, context) => async (args) => {
        const operation = String(context.commandName).replace(/Command$/, "");
        let answer: Awaited<ReturnType<typeof next>> | undefined;
        await this.count(operation, args.input, async () => {
          answer = await next(args);
          return answer.output;
        });
        return answer as NonNullable<typeof answer>;
      },
      { step: "deserialize", priority: "high", name: "meterTry" },
    );
  }

  /** One try, whose input asks for the capacity. */
  async count<Output extends object | undefined>(
    operation: string,
    input: object,
    send: () => Promise<Output>,
  ): Promise<Output> {
    this.#spent.requests++;
    try {
      const output = await send();
      this.#countAnswer(operation, input, output);
      return output;
    } catch (error) {
      this.#countRefusal(error);
      throw error;
    }
  }

  #countAnswer(operation: string, input: object, output: object | undefined): void {
    const { ConsumedCapacity } = (output ?? {}) as { ConsumedCapacity?: ConsumedCapacity };
    const { write, read } = reportedUnits(operation, ConsumedCapacity);
    const { ClientRequestToken: token, TransactItems = [], Statements } = input as Partial<Writes>;
    this.#spent.readUnits += read;
    const transacted = Math.max(write * this.#transactionFactor, transactedItemUnits(TransactItems));
    if (Statements)
      this.#spent.writeUnits += statementUnits(Statements, (output as Responses).Responses ?? []);
    else if (operation !== "TransactWriteItems") this.#spent.writeUnits += write;
    else if (token !== undefined && this.#applied.has(token)) this.#spent.readUnits += transacted;
    else this.#spent.writeUnits += transacted;
    if (token !== undefined) this.#applied.add(token);
  }

  #countRefusal(error: unknown): void {
    if (!(error instanceof Error)) return;
    const { name, Item = {}, CancellationReasons = [] } = error as Error & Refusal;
    if (name === "ConditionalCheckFailedException") this.#spent.writeUnits += refusedWriteUnits(Item);
    if (name === "TransactionCanceledException") {
      this.#spent.writeUnits += refusedTransactionUnits(CancellationReasons);
    }
  }
}

type Writes = TransactWriteItemsInput & BatchExecuteStatementInput;
type Responses = BatchExecuteStatementOutput;

interface Refusal {
  readonly Item?: Item;
  readonly CancellationReasons?: readonly { readonly Item?: Item }[];
}

export async function createMeter(endpoint: string): Promise<Meter> {
  return new Meter(await transactionFactorOf(endpoint));
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
