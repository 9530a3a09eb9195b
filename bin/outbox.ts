// What sends the messages that operations commit: a relay on the table's stream, and a sweeper for what that lost.
import { Duration, type RemovalPolicy } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { StartingPosition } from "aws-cdk-lib/aws-lambda";
import { DynamoEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import type { IdempotencyTable } from "onceonly/cdk";
import { SampleFunction } from "./sample-function.ts";

export interface OutboxProps {
  readonly idempotency: IdempotencyTable;
  /** Where messages may be sent to. */
  readonly queue: Queue;
  readonly removalPolicy: RemovalPolicy;
}

export function addOutbox(scope: Construct, { idempotency, queue, removalPolicy }: OutboxProps): void {
  const common = {
    environment: { IDEMPOTENCY_TABLE: idempotency.table.tableName },
    timeout: Duration.seconds(30),
    removalPolicy,
  };
  const relay = new SampleFunction(scope, "RelayOutbox", { ...common, file: "relay-outbox" });
  idempotency.grantRelay(relay);
  queue.grant(relay, "sqs:SendMessage");
  relay.addEventSource(
    new DynamoEventSource(idempotency.table, {
      startingPosition: StartingPosition.TRIM_HORIZON,
      filters: [...idempotency.outboxFilters],
      reportBatchItemFailures: true,
      // Nor is there a limit of retries: what the relay gave up would be sent after what follows it in its group.
      bisectBatchOnError: false,
    }),
  );

  const sweeper = new SampleFunction(scope, "SweepOutbox", { ...common, file: "sweep-outbox" });
  idempotency.grantSweeper(sweeper);
  queue.grant(sweeper, "sqs:SendMessage");
  new Rule(scope, "Sweep", {
    schedule: Schedule.rate(Duration.minutes(1)),
    targets: [new LambdaFunction(sweeper)],
  });
}
