import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { type Execution, httpIdempotent, runOnce } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { fakeClock, fakeLambdaContext } from "onceonly/testing";
import { vi } from "vitest";
import { DynamoDBModel } from "../../../packages/explorer/lib/aws/dynamodb/dynamodb-model.ts";
import { clientError, failWith } from "../../kit/faults/faulty-client.ts";
import { connect } from "../../kit/tables.ts";
import { v2Event } from "../../lambda/http/given.ts";
import type { Mistake } from "../given.ts";
import { messageOf } from "../given.ts";

type Work = (execution: Execution<DynamoDBWrite>) => unknown;

/** A shop with a table of records and one of orders. */
function shop() {
  const model = new DynamoDBModel();
  const client = new DynamoDBClient({ ...model.clientConfig(), maxAttempts: 1 });
  for (const [TableName, key] of [
    ["records", "pk"],
    ["orders", "id"],
  ] as const)
    void model.call("CreateTable", {
      TableName,
      KeySchema: [{ AttributeName: key, KeyType: "HASH" }],
      AttributeDefinitions: [{ AttributeName: key, AttributeType: "S" }],
      BillingMode: "PAY_PER_REQUEST",
    });
  return client;
}

const committing = (work: Work) => () => {
  const client = shop();
  const store = new DynamoDBStore({ tableName: "records", client });
  return messageOf(() => runOnce({ operation: "order", store, leaseSeconds: 30 }, "key", {}, work));
};

const writing = (...writes: readonly object[]) =>
  committing(({ commit }) => commit("created", { writes: writes as DynamoDBWrite[] }));

const put = (Item: object) => ({ Put: { TableName: "orders", Item } });

/** What a request says in the log. */
async function logged(table: string, name: string, message: string, status = 400) {
  const lines: string[] = [];
  const log = vi.spyOn(console, "error").mockImplementation((line: string) => void lines.push(line));
  const client = connect("http://127.0.0.1:1", { maxAttempts: 1 });
  failWith(client, clientError(name, { message }, status));
  const store = new DynamoDBStore({ tableName: table, client });
  const handler = httpIdempotent(async () => ({ statusCode: 201 }), {
    operation: "order",
    store,
    scope: "public",
  });
  await handler(
    v2Event({ headers: { "Idempotency-Key": "key" } }),
    fakeLambdaContext({ clock: fakeClock() }),
  );
  log.mockRestore();
  return lines.join();
}

/** The table of the records, and what a commit writes beside them. */
export const STORE_MISTAKES: readonly Mistake[] = [
  {
    made: "names a table that doesn't exist",
    reportedBy: "log",
    text: "the idempotency store refused PutItem on recrods (ResourceNotFoundException: Requested resource not found), and will refuse it again: fix the permissions, the table or the request",
    make: () => logged("recrods", "ResourceNotFoundException", "Requested resource not found"),
  },
  {
    made: "gives the function no permission on the table",
    reportedBy: "log",
    text: "the idempotency store refused PutItem on records (AccessDeniedException: User: arn:aws:sts::123456789012:assumed-role/shop/order is not authorized to perform: dynamodb:PutItem on resource: arn:aws:dynamodb:eu-central-1:123456789012:table/records), and will refuse it again: fix the permissions, the table or the request",
    make: () =>
      logged(
        "records",
        "AccessDeniedException",
        "User: arn:aws:sts::123456789012:assumed-role/shop/order is not authorized to perform: dynamodb:PutItem on resource: arn:aws:dynamodb:eu-central-1:123456789012:table/records",
      ),
  },
  {
    made: "uses expired credentials",
    reportedBy: "log",
    text: "the idempotency store refused PutItem on records (ExpiredTokenException: The security token included in the request is expired), and will refuse it again",
    make: () =>
      logged("records", "ExpiredTokenException", "The security token included in the request is expired"),
  },
  {
    made: "names a Region that doesn't exist",
    reportedBy: "log",
    text: "the idempotency store failed at PutItem on records (unreachable: Error: getaddrinfo ENOTFOUND dynamodb.eu-nowhere-1.amazonaws.com)",
    make: () => logged("records", "Error", "getaddrinfo ENOTFOUND dynamodb.eu-nowhere-1.amazonaws.com", 0),
  },
  {
    made: "commits an expression with a reserved word",
    reportedBy: "error",
    text: "DynamoDB refuses writes[1], Update on orders (ValidationException: Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: status): nothing was written; fix the write",
    make: writing(put({ id: "1" }), {
      Update: {
        TableName: "orders",
        Key: { id: "2" },
        UpdateExpression: "SET status = :s",
        ExpressionAttributeValues: { ":s": "paid" },
      },
    }),
  },
  {
    made: "commits a write to a table that doesn't exist",
    reportedBy: "error",
    text: "DynamoDB refuses writes[0], Put on oders (ResourceNotFoundException: Requested resource not found): nothing was written; fix the write",
    make: writing({ Put: { TableName: "oders", Item: { id: "1" } } }),
  },
  {
    made: "commits two writes to one item",
    reportedBy: "error",
    text: "DynamoDB refuses one of 2 writes on orders (ValidationException: Transaction request cannot include multiple operations on one item): nothing was written; fix the write",
    make: writing(put({ id: "1" }), put({ id: "1" })),
  },
  {
    made: "commits an item without its key",
    reportedBy: "error",
    text: "DynamoDB refuses writes[0], Put on orders (ValidationError: One or more parameter values were invalid: Missing the key id in the item): nothing was written; fix the write",
    make: writing(put({ orderId: "1" })),
  },
  {
    made: "commits an item with an empty key",
    reportedBy: "error",
    text: "DynamoDB refuses writes[0], Put on orders (ValidationException: One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: id): nothing was written; fix the write",
    make: writing(put({ id: "" })),
  },
  {
    made: "commits an item that is too large",
    reportedBy: "error",
    text: "writes[0] is too large: an item can have at most 400 KB",
    make: writing(put({ id: "1", photo: "x".repeat(410_000) })),
  },
  {
    made: "commits a write of the wrong shape",
    reportedBy: "error",
    text: "writes[0] has its TableName at the top level: wrap it in the action, as in { Put: params }",
    make: writing({ TableName: "orders", Item: { id: "1" } }),
  },
  {
    made: "commits effects and forgets the result",
    reportedBy: "error",
    text: "commit expects the result first, then { writes, messages } (got only { writes, messages }): pass `undefined` as the result, or add `{}` as the second argument if this object is the result",
    make: committing(({ commit }) => commit({ writes: [put({ id: "1" })] } as object)),
  },
  {
    made: "commits effects and forgets the result, in TypeScript",
    reportedBy: "type",
    text: "the result of a commit comes first, then { writes, messages }",
    make:
      () =>
      ({ commit }: Execution<DynamoDBWrite>) =>
        // @ts-expect-error
        commit({ writes: [put({ id: "1" })] }),
  },
  {
    made: "commits a misspelled option",
    reportedBy: "error",
    text: "`write` isn't a field of a commit (did you mean `writes`?)",
    make: committing(({ commit }) => commit("created", { write: [put({ id: "1" })] } as object)),
  },
  {
    made: "commits an array of writes instead of { writes }",
    reportedBy: "error",
    text: "commit expects the result first, then { writes, messages } (got an array of 1 item as the second argument)",
    make: committing(({ commit }) => commit("created", [put({ id: "1" })] as object)),
  },
  {
    made: "passes `commit` the effects first and the result second",
    reportedBy: "error",
    text: "`statusCode` isn't a field of a commit (valid fields: writes, messages)",
    make: committing(({ commit }) => commit({ writes: [] }, { statusCode: 201 } as object)),
  },
];
