// What is read for a function, and what only a permission shows.
import { Fn } from "aws-cdk-lib";
import { CfnTable, StreamViewType, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Stream } from "aws-cdk-lib/aws-kinesis";
import { CfnEventSourceMapping } from "aws-cdk-lib/aws-lambda";
import {
  DynamoEventSource,
  KinesisEventSource,
  ManagedKafkaEventSource,
  SqsEventSource,
} from "aws-cdk-lib/aws-lambda-event-sources";
import { CfnPipe } from "aws-cdk-lib/aws-pipes";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { type Misconfiguration, noted, refused, warned } from "../given.ts";
import { aQueue, days, forDay, hours, LATEST, PK, roleArn } from "./windows-given.ts";

export const POLLED: readonly Misconfiguration[] = [
  refused(
    "a Kinesis stream that keeps records for longer than the retention",
    "604800 s in the stream Test/Stream",
    forDay((stack, fn) => {
      const stream = new Stream(stack, "Stream", { retentionPeriod: days(7) });
      fn.addEventSource(
        new KinesisEventSource(stream, { startingPosition: LATEST, reportBatchItemFailures: true }),
      );
    }),
  ),
  warned(
    "a Kinesis stream that keeps records for a year",
    "onceonly:stream-window",
    forDay((stack, fn) => {
      const stream = new Stream(stack, "Stream", { retentionPeriod: days(365) });
      fn.addEventSource(
        new KinesisEventSource(stream, { startingPosition: LATEST, reportBatchItemFailures: true }),
      );
    }),
  ),
  refused(
    "a maximum record age longer than the retention",
    "as the maximum record age of",
    forDay((stack, fn) => {
      const stream = new Stream(stack, "Stream", { retentionPeriod: days(7) });
      fn.addEventSource(
        new KinesisEventSource(stream, {
          startingPosition: LATEST,
          reportBatchItemFailures: true,
          maxRecordAge: days(3),
        }),
      );
    }),
  ),
  noted(
    "a Kinesis stream of another app",
    "onceonly:retention-unknown",
    forDay((stack, fn) => {
      const stream = Stream.fromStreamArn(
        stack,
        "Given",
        "arn:aws:kinesis:eu-west-1:111111111111:stream/given",
      );
      fn.addEventSource(
        new KinesisEventSource(stream, { startingPosition: LATEST, reportBatchItemFailures: true }),
      );
    }),
  ),
  warned(
    "a table's stream, and a retention shorter than its 24 hours",
    "onceonly:stream-window",
    forDay(
      (stack, fn) => {
        const rows = new TableV2(stack, "Rows", { partitionKey: PK, dynamoStream: StreamViewType.NEW_IMAGE });
        fn.addEventSource(
          new DynamoEventSource(rows, { startingPosition: LATEST, reportBatchItemFailures: true }),
        );
      },
      { retention: hours(12) },
    ),
  ),
  refused(
    "the stream of a table that has no stream",
    "which doesn't have one: enable it",
    forDay((stack, fn) => {
      const rows = new TableV2(stack, "Rows", { partitionKey: PK });
      fn.addEventSource(new DynamoEventSource(rows, { startingPosition: LATEST }));
    }),
  ),
  refused(
    "the stream of a plain table that has no stream",
    "which doesn't have one: enable it",
    forDay((stack, fn) => {
      const rows = new CfnTable(stack, "Rows", { keySchema: [{ attributeName: "id", keyType: "HASH" }] });
      new CfnEventSourceMapping(stack, "Mapping", {
        eventSourceArn: rows.attrStreamArn,
        functionName: fn.functionName,
        startingPosition: "LATEST",
        functionResponseTypes: ["ReportBatchItemFailures"],
      });
    }),
  ),
  noted(
    "a Kafka topic",
    "onceonly:retention-unknown",
    forDay((_, fn) => {
      const clusterArn = "arn:aws:kafka:eu-west-1:111111111111:cluster/given/1";
      fn.addEventSource(
        new ManagedKafkaEventSource({
          clusterArn,
          topic: "orders",
          startingPosition: LATEST,
          reportBatchItemFailures: true,
          provisionedPollerConfig: { minimumPollers: 1 },
        }),
      );
    }),
  ),
  noted(
    "an Amazon MQ queue",
    "onceonly:retention-unknown",
    forDay((stack, fn) => {
      new CfnEventSourceMapping(stack, "Mapping", {
        eventSourceArn: "arn:aws:mq:eu-west-1:111111111111:broker:given:1",
        functionName: fn.functionName,
        queues: ["orders"],
      });
    }),
  ),
  refused(
    "a pipe from a queue that keeps messages for longer",
    "345600 s in Test/Queue",
    forDay((stack, fn) => {
      const { queueArn: source } = aQueue(stack);
      new CfnPipe(stack, "Pipe", { roleArn, source, target: fn.functionArn });
    }),
  ),
  noted(
    "a rule of another app",
    "onceonly:retention-unknown",
    forDay((_, fn) => fn.addPermission("Rule", { principal: new ServicePrincipal("events.amazonaws.com") })),
  ),
  noted(
    "an AWS IoT rule",
    "onceonly:retention-unknown",
    forDay((_, fn) => fn.addPermission("Iot", { principal: new ServicePrincipal("iot.amazonaws.com") })),
  ),
  noted(
    "a subscription to CloudWatch Logs",
    "onceonly:retention-unknown",
    forDay((_, fn) => fn.addPermission("Logs", { principal: new ServicePrincipal("logs.amazonaws.com") })),
  ),
  noted(
    "a queue that is only known as a token",
    "onceonly:retention-unknown",
    forDay((stack, fn) => {
      const queue = Queue.fromQueueArn(stack, "Given", Fn.importValue("queue"));
      fn.addEventSource(new SqsEventSource(queue, { reportBatchItemFailures: true }));
    }),
  ),
];
