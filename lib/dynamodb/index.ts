/** Entry for records in DynamoDB through an AWS SDK client: the only one that needs `@aws-sdk/client-dynamodb`. */
export { DynamoDBOutbox } from "./dynamodb-outbox.ts";
export { DynamoDBStore } from "./dynamodb-store.ts";
export type { DynamoDBClientLike, DynamoDBOutboxOptions, DynamoDBStoreOptions } from "./options.ts";
export type { DynamoDBWrite } from "./writes.ts";
