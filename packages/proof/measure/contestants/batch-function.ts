// How a function that processes messages is deployed and called: the same for every contestant.
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import type { LeanDynamoDB } from "onceonly/lean";

export interface BatchSetup {
  readonly client: DynamoDBClient;
  readonly lean: LeanDynamoDB;
  readonly recordsTable: string;
  readonly effectsTable: string;
  /** What each handler waits for before it writes its effect. */
  readonly work?: ((record: SQSRecord) => Promise<unknown>) | undefined;
}

export type BatchFunction = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

/** A new execution environment of the function. */
export type DeployBatch = (setup: BatchSetup) => BatchFunction;

/** Both packages honour a finished record for as long; the peer's default is an hour. */
export const RETENTION_SECONDS = 86_400;
