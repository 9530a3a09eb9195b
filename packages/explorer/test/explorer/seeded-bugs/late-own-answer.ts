// A worker that comes back after its lease finds the row of the winner and answers "is there already". Nobody
// informs the worker that its claim is lost, so that its caller gets another answer than the winner's.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import { runOnce } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import type { HttpEvent } from "../../../../../test/kit/shop/events.ts";

const TableName = process.env.ORDERS_TABLE;
const database = DynamoDBDocumentClient.from(new DynamoDBClient());
const tableName = process.env.IDEMPOTENCY_TABLE;

interface HttpAnswer {
  readonly statusCode: number;
  readonly body: string;
}

/** Believes that a claim it has won is its own for ever. Each invocation has its own store. */
class DeafStore extends DynamoDBStore {
  #token: string | undefined;

  override async claim(...request: Parameters<DynamoDBStore["claim"]>) {
    const answer = await super.claim(...request);
    if (answer.won) this.#token = request[0].token;
    return answer;
  }

  override async find(...request: Parameters<DynamoDBStore["find"]>) {
    const record = await super.find(...request);
    return record && this.#token ? { ...record, token: this.#token, state: "in-progress" as const } : record;
  }
}

const openingWith = (newStore: () => DynamoDBStore) => {
  // Shorter than the work may take.
  const lease = { leaseSeconds: 1, clockSkewSeconds: 0, whenInProgress: { waitSeconds: 3 } };
  const shouldStore = (answer: unknown) => (answer as HttpAnswer).statusCode === 201;
  return async ({ headers }: HttpEvent): Promise<HttpAnswer> => {
    const options = { operation: "open-account", store: newStore(), ...lease };
    const key = `${headers["idempotency-key"]}`;
    try {
      return await runOnce<HttpAnswer, DynamoDBWrite>({ ...options, shouldStore }, key, {}, open);
    } catch (error) {
      if (!(error as { retryable?: boolean }).retryable) throw error;
      return { statusCode: 503, body: "again" };
    }
  };
};

async function open({ commit }: { commit: CommitAnswer }): Promise<HttpAnswer> {
  const Key = { tenant: "acme", id: "account" };
  const { Item } = await database.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
  if (Item) return { statusCode: 422, body: "the account is there already" };
  return commit({ statusCode: 201, body: "opened" }, { writes: [{ Put: { TableName, Item: Key } }] });
}
type CommitAnswer = (answer: HttpAnswer, effects: { writes: DynamoDBWrite[] }) => Promise<HttpAnswer>;

export const handler = openingWith(() => new DeafStore({ tableName }));

export const mended = openingWith(() => new DynamoDBStore({ tableName }));
