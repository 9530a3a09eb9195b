import { RemovalPolicy, type Stack } from "aws-cdk-lib";
import { AttributeType, TableEncryptionV2, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { Key } from "aws-cdk-lib/aws-kms";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { CommitGrants, DedupQueue, type OutboxDestination, OutboxRelay } from "onceonly/cdk";
import { type Misconfiguration, refused, runner, tableIn, warned } from "../given.ts";

const UNGRANTED = "so no grant includes the key";
const arn = (service: string, name: string) => `arn:aws:${service}:eu-west-1:111111111111:${name}`;
const destroyed = { removalPolicy: RemovalPolicy.DESTROY };

function relayed(stack: Stack, destination: OutboxDestination): void {
  new OutboxRelay(stack, "Outbox", { table: tableIn(stack, { outbox: true }), destinations: [destination] });
}

const secretRows = (stack: Stack) =>
  new TableV2(stack, "Rows", {
    tableName: "rows",
    partitionKey: { name: "id", type: AttributeType.STRING },
    encryption: TableEncryptionV2.customerManagedKey(new Key(stack, "Key")),
  });

export const KEYS: readonly Misconfiguration[] = [
  warned("a key that is destroyed while its table is kept", "onceonly:destroyed-key", (stack) =>
    runner(stack, { table: tableIn(stack, { encryptionKey: new Key(stack, "Key", destroyed) }) }),
  ),
  warned("a key that is destroyed while its queue is kept", "onceonly:destroyed-key", (stack) => {
    const encryptionKey = new Key(stack, "Key", destroyed);
    new DedupQueue(stack, "Queue", { encryptionKey, removalPolicy: RemovalPolicy.RETAIN });
  }),
  refused("a `DedupQueue` imported without the key of its queue", UNGRANTED, (stack) => {
    new DedupQueue(stack, "Own", { queueName: "orders.fifo", encryptionKey: new Key(stack, "Key") });
    DedupQueue.fromQueueArn(stack, "Queue", arn("sqs", "orders.fifo")).addConsumer(runner(stack));
  }),
  refused("a relay to a queue that is imported without its key", UNGRANTED, (stack) => {
    new Queue(stack, "Own", { queueName: "orders", encryptionMasterKey: new Key(stack, "Key") });
    relayed(stack, Queue.fromQueueArn(stack, "To", arn("sqs", "orders")));
  }),
  refused("a relay to a topic that is imported without its key", UNGRANTED, (stack) => {
    new Topic(stack, "Own", { topicName: "orders", masterKey: new Key(stack, "Key") });
    relayed(stack, Topic.fromTopicArn(stack, "To", arn("sns", "orders")));
  }),
  refused("commits to a table that is imported by its name without its key", UNGRANTED, (stack) => {
    secretRows(stack);
    const rows = CommitGrants.fromTable(TableV2.fromTableName(stack, "Imported", "rows"));
    rows.actions(runner(stack), "dynamodb:PutItem");
  }),
];
