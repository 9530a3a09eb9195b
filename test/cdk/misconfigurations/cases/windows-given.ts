// Functions with a source, for the cases of windows.
import { CfnParameter, Duration, type Stack } from "aws-cdk-lib";
import { AttributeType } from "aws-cdk-lib/aws-dynamodb";
import {
  type FunctionOptions,
  type Function as LambdaFunction,
  StartingPosition,
} from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import type { Topic } from "aws-cdk-lib/aws-sns";
import { Queue, type QueueProps } from "aws-cdk-lib/aws-sqs";
import { IdempotencyTable, OutboxRelay, type UseIdempotencyOptions } from "onceonly/cdk";
import { runner } from "../given.ts";

export const days = (count: number) => Duration.days(count);
export const hours = (count: number) => Duration.hours(count);
export const LATEST = StartingPosition.LATEST;
export const roleArn = "arn:aws:iam::111111111111:role/any";
export const PK = { name: "pk", type: AttributeType.STRING };

export type Build = (stack: Stack, fn: LambdaFunction) => unknown;

/** A function of one day, as is the default, and its source. */
export const forDay =
  (build: Build, options: UseIdempotencyOptions = {}, fn: FunctionOptions = {}) =>
  (stack: Stack) =>
    build(stack, runner(stack, { retention: days(1), fn, ...options }));

export const number = (stack: Stack) => new CfnParameter(stack, "Number", { type: "Number" }).valueAsNumber;
export const eventsOf = (queue: Queue) => new SqsEventSource(queue, { reportBatchItemFailures: true });
export const aQueue = (stack: Stack, props: QueueProps = {}, id = "Queue") => new Queue(stack, id, props);
export const consumed =
  (props: QueueProps = {}): Build =>
  (stack, fn) =>
    fn.addEventSource(eventsOf(aQueue(stack, props)));
export const parked = (stack: Stack, id = "Parked") => aQueue(stack, { retentionPeriod: days(14) }, id);
export const TOO_SHORT = "retention 86400 s <";

export const relayTo = (stack: Stack, destination: Queue | Topic) =>
  new OutboxRelay(stack, "Outbox", {
    table: new IdempotencyTable(stack, "Committed", { outbox: true }),
    destinations: [destination],
  });

/** A client may repeat for a day, by default, and the queue keeps messages for 10 days. */
export const fedByOutbox = (stack: Stack, retention: Duration) => {
  const queue = aQueue(stack, { retentionPeriod: days(10) });
  relayTo(stack, queue);
  runner(stack, { retention }).addEventSource(eventsOf(queue));
};
