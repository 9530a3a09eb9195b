/** For functions that need no other AWS client: the DynamoDB store and outbox without the SDK. */
export type { DynamoDBAnswer, DynamoDBInputs } from "../dynamodb/connection.ts";
export type { ExpiringCredentials } from "./container-credentials.ts";
export type { CredentialSource } from "./credentials.ts";
export { DynamoDBOutbox, type LeanOutboxOptions } from "./dynamodb-outbox.ts";
export { DynamoDBStore, type LeanStoreOptions } from "./dynamodb-store.ts";
export { LeanDynamoDB, type LeanDynamoDBOptions } from "./lean-dynamodb.ts";
