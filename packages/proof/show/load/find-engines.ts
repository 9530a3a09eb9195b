// Finds the tables and queues of a sample that runs already, in engines that have one such sample.
import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { ListQueuesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { openQueues, type Queues } from "../demo/queues.ts";
import { openTables, type Tables } from "../demo/tables.ts";

const CLIENT = { region: "us-east-1", credentials: { accessKeyId: "local", secretAccessKey: "local" } };

export async function openFoundTables(endpoint: string): Promise<Tables> {
  const client = new DynamoDBClient({ ...CLIENT, endpoint });
  try {
    const { TableNames = [] } = await answerOf("DynamoDB", endpoint, client.send(new ListTablesCommand()));
    const tableOf = (construct: string) => theOne(`table ${construct}`, construct, TableNames, endpoint);
    return openTables(endpoint, {
      orders: tableOf("Orders"),
      payments: tableOf("Payments"),
      ledger: tableOf("Ledger"),
      stock: tableOf("Stock"),
      records: tableOf("Idempotency"),
    });
  } finally {
    client.destroy();
  }
}

export async function openFoundQueues(endpoint: string): Promise<Queues> {
  const client = new SQSClient({ ...CLIENT, endpoint });
  try {
    const { QueueUrls = [] } = await answerOf("SQS", endpoint, client.send(new ListQueuesCommand()));
    const queueOf = (construct: string) => theOne(`queue ${construct}`, construct, QueueUrls, endpoint);
    const queueUrl = queueOf("PaymentsQueue");
    const deadLettersUrl = queueOf("PaymentsQueueDeadLetters");
    const [account, name] = new URL(deadLettersUrl).pathname.split("/").slice(1);
    return openQueues({
      endpoint,
      senderEndpoint: endpoint,
      senderUrl: queueUrl,
      queueUrl,
      deadLettersUrl,
      deadLettersArn: `arn:aws:sqs:${CLIENT.region}:${account}:${name}`,
    });
  } finally {
    client.destroy();
  }
}

/** A physical name contains the stack's name, the construct's and the hash of its path. */
function theOne(what: string, construct: string, names: readonly string[], endpoint: string): string {
  const wanted = new RegExp(`-${construct}[0-9A-F]{8}-`);
  const [found, ...others] = names.filter((name) => wanted.test(name));
  if (found !== undefined && others.length === 0) return found;
  const count = found === undefined ? 0 : 1 + others.length;
  throw new Error(`there must be one ${what} of the sample at ${endpoint}, found ${count}`);
}

async function answerOf<T>(engine: string, endpoint: string, asking: Promise<T>): Promise<T> {
  try {
    return await asking;
  } catch (cause) {
    throw new Error(`no ${engine} answers at ${endpoint}: give the address that npm start printed`, {
      cause,
    });
  }
}
