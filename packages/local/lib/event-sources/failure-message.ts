// The message that a failure destination gets about a stream batch that was given up: its position, not its content.
// https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
import type { GivenUpBatch } from "onceonly-explorer/aws";

export interface FailureContext {
  readonly functionArn: string;
  readonly streamArn: string;
  readonly nowMs: number;
}

export function failureMessage(batch: GivenUpBatch, context: FailureContext): string {
  const first = batch.records[0]?.dynamodb;
  const last = batch.records.at(-1)?.dynamodb;
  const arrivalOf = (seconds = 0) => new Date(seconds * 1000).toISOString();
  return JSON.stringify({
    requestContext: {
      requestId: batch.requestId,
      functionArn: context.functionArn,
      condition: batch.condition,
      approximateInvokeCount: batch.invokeCount,
    },
    responseContext: { statusCode: 200, executedVersion: "$LATEST", functionError: "Unhandled" },
    version: "1.0",
    timestamp: new Date(context.nowMs).toISOString(),
    DDBStreamBatchInfo: {
      startSequenceNumber: first?.SequenceNumber,
      endSequenceNumber: last?.SequenceNumber,
      approximateArrivalOfFirstRecord: arrivalOf(first?.ApproximateCreationDateTime),
      approximateArrivalOfLastRecord: arrivalOf(last?.ApproximateCreationDateTime),
      batchSize: batch.records.length,
      streamArn: context.streamArn,
    },
  });
}
