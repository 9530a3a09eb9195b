// What the compiler refuses in a project of TypeScript; test/package/typescript.test.ts has such projects.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Stack } from "aws-cdk-lib";
import { AttributeType, Table } from "aws-cdk-lib/aws-dynamodb";
import { callerFromJwt, httpIdempotent, idempotent, runOnce } from "onceonly";
import { DedupQueue, IdempotencyMonitoring, IdempotencyTable, UseIdempotency } from "onceonly/cdk";
import { DynamoDBStore } from "onceonly/dynamodb";
import { outboxRelay } from "onceonly/messaging";
import type { Mistake } from "../given.ts";

declare const store: DynamoDBStore;
declare const stack: Stack;
declare const table: IdempotencyTable;
type Order = { id: string };
const key = (order: Order) => order.id;

export const PROJECT_MISTAKES: readonly Mistake[] = [
  {
    made: "omits the operation",
    reportedBy: "type",
    text: "Property 'operation' is missing in type '{ store: DynamoDBStore; key: (order: Order) => string; }' but required in type 'IdempotencyOptions<Order, DynamoDBWrite>'",
    make: () =>
      // @ts-expect-error the operation is missing
      idempotent(async (_: Order) => 1, { store, key }),
  },
  {
    made: "gives the client of DynamoDB as the store",
    reportedBy: "type",
    text: "Type 'DynamoDBClient' is missing the following properties from type 'Store<unknown>': claim, settle, insert, find, and 2 more",
    make: () =>
      // @ts-expect-error a client is no store
      idempotent(async (_: Order) => 1, { operation: "order", store: new DynamoDBClient({}), key }),
  },
  {
    made: "passes the table's name as `table` instead of `tableName`",
    reportedBy: "type",
    text: "'table' does not exist in type 'DynamoDBStoreOptions'",
    make: () =>
      // @ts-expect-error it is tableName
      new DynamoDBStore({ table: "records" }),
  },
  {
    made: "omits the input of `runOnce`",
    reportedBy: "type",
    text: "Expected 4 arguments, but got 3",
    make: () =>
      // @ts-expect-error the input comes before the function
      runOnce({ operation: "order", store, leaseSeconds: 60 }, "k", async () => 1),
  },
  {
    made: "reads the key from a field that the event's type doesn't have",
    reportedBy: "type",
    text: "Property 'orderId' does not exist on type 'Order'",
    make: () =>
      // @ts-expect-error it is id
      idempotent(async (_: Order) => 1, { operation: "order", store, key: (order) => order.orderId }),
  },
  {
    made: "passes the retention as a string",
    reportedBy: "type",
    text: "Type 'string' is not assignable to type 'number'",
    make: () =>
      // @ts-expect-error it is a number of seconds
      idempotent(async (_: Order) => 1, { operation: "order", store, key, retentionSeconds: "7d" }),
  },
  {
    made: "passes `callerFromJwt` without calling it",
    reportedBy: "type",
    text: "is not assignable to type '\"public\" | EventReader<string | undefined>'",
    make: () => {
      const http = { operation: "order", store };
      // @ts-expect-error a call makes the reader
      return httpIdempotent(async () => ({ statusCode: 201 }), { ...http, scope: callerFromJwt });
    },
  },
  {
    made: "commits a message for a queue without key and body",
    reportedBy: "type",
    text: "Type '{ queue: string; }' is missing the following properties from type 'QueueMessage': key, body",
    make: () =>
      idempotent(
        async (_: Order, { idempotency }) =>
          // @ts-expect-error it has a key and a body
          idempotency.commit(null, { messages: [{ queue: "url" }] }),
        { operation: "order", store, key },
      ),
  },
  {
    made: "passes `outboxRelay` the store instead of the outbox",
    reportedBy: "type",
    text: "Type 'DynamoDBStore' is missing the following properties from type 'Outbox': shards, readChange, load, take, and 7 more",
    make: () =>
      // @ts-expect-error a store is no outbox
      outboxRelay({ outbox: store, destinations: "any" }),
  },
  {
    made: "misspells a property of a construct",
    reportedBy: "type",
    text: "'outboxes' does not exist in type 'IdempotencyTableProps'",
    make: () =>
      // @ts-expect-error it is outbox
      new IdempotencyTable(stack, "Records", { outboxes: true }),
  },
  {
    made: "passes `UseIdempotency` a table of business items",
    reportedBy: "type",
    text: "Argument of type 'Table' is not assignable to parameter of type 'IIdempotencyTable'",
    make: () => {
      const partitionKey = { name: "id", type: AttributeType.STRING };
      // @ts-expect-error it is no IdempotencyTable
      return new UseIdempotency(new Table(stack, "Orders", { partitionKey }));
    },
  },
  {
    made: "passes a single operation instead of a list",
    reportedBy: "type",
    text: "Type 'string' is not assignable to type 'string[]'",
    make: () =>
      // @ts-expect-error they are a list
      new UseIdempotency(table, { operations: "create-order" }),
  },
  {
    made: "passes a construct a number of seconds",
    reportedBy: "type",
    text: "Type 'number' is not assignable to type 'Duration'",
    make: () =>
      // @ts-expect-error it is a Duration
      new DedupQueue(stack, "Payments", { visibilityTimeout: 60 }),
  },
  {
    made: "monitors no table",
    reportedBy: "type",
    text: "Property 'table' is missing in type '{}' but required in type 'IdempotencyMonitoringProps'",
    make: () =>
      // @ts-expect-error the table is missing
      new IdempotencyMonitoring(stack, "Monitoring", {}),
  },
];
