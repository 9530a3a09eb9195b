// The peer on a queue, combining its two packages as its documentation does. `makeIdempotent` wraps the record handler,
// and the context is registered in each invocation. `processPartialResponse` gets a `BatchProcessor` that works in
// parallel. The key comes from the body, where a second send has the same one; the whole body is checked against it.
// The local cache is on, since it saves requests here.
import { BatchProcessor, EventType, processPartialResponse } from "@aws-lambda-powertools/batch";
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import type { SQSRecord } from "aws-lambda";
import { writeEffect } from "../batch/effects.ts";
import { orderIdOf } from "../batch/message-stream.ts";
import { type DeployBatch, RETENTION_SECONDS } from "./batch-function.ts";

export const powertoolsBatch: DeployBatch = ({ client, recordsTable, effectsTable, work }) => {
  const processor = new BatchProcessor(EventType.SQS);
  const config = new IdempotencyConfig({
    eventKeyJmesPath: "powertools_json(body).orderId",
    payloadValidationJmesPath: "body",
    throwOnNoIdempotencyKey: true,
    expiresAfterSeconds: RETENTION_SECONDS,
    useLocalCache: true,
  });
  const processIdempotently = makeIdempotent(
    async (record: SQSRecord) => {
      await work?.(record);
      const orderId = orderIdOf(record);
      await writeEffect(client, effectsTable, orderId);
      return { orderId };
    },
    {
      persistenceStore: new DynamoDBPersistenceLayer({ tableName: recordsTable, awsSdkV3Client: client }),
      config,
      keyPrefix: "count-order",
    },
  );
  return (event, context) => {
    config.registerLambdaContext(context);
    return processPartialResponse(event, processIdempotently, processor, { context });
  };
};
