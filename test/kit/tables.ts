// Tables and clients for tests against a real engine. Each test file has its own tables. They are deleted at its end, since
// DynamoDB Local gets slower with every stream it has.
import { DeleteTableCommand, type DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { atEndOfFile } from "./end-of-file.ts";
import * as fresh from "./fresh-tables.ts";

export { connect, environmentFor } from "./fresh-tables.ts";

export const createTable = deletedAtEnd(fresh.createTable);
export const createOutboxTable = deletedAtEnd(fresh.createOutboxTable);

function deletedAtEnd<Args extends readonly unknown[]>(
  create: (client: DynamoDBClient, ...args: Args) => Promise<string>,
): typeof create {
  return async (client, ...args) => {
    const TableName = await create(client, ...args);
    const endpoint = await client.config.endpoint?.();
    atEndOfFile(async () => {
      // Not the test's own client, which may be destroyed by then, or fail on purpose.
      const client = fresh.connect(`http://${endpoint?.hostname}:${endpoint?.port}`, { maxAttempts: 1 });
      // It fails if the test has deleted the table, or stopped its engine.
      await client.send(new DeleteTableCommand({ TableName })).catch(() => {});
      client.destroy();
    });
    return TableName;
  };
}
