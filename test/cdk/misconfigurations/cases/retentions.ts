import { Duration, Stack } from "aws-cdk-lib";
import { Alias, CfnEventSourceMapping } from "aws-cdk-lib/aws-lambda";
import { SnsEventSource, SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { DedupQueue } from "onceonly/cdk";
import { aFunction } from "../../given.ts";
import { accepted, type Misconfiguration, noted, ofItem, refused, runner, warned } from "../given.ts";
import {
  aQueue,
  consumed,
  days,
  eventsOf,
  fedByOutbox,
  forDay,
  number,
  parked,
  relayTo,
  TOO_SHORT,
} from "./windows-given.ts";

export const RETENTIONS: readonly Misconfiguration[] = [
  refused(
    "a client window longer than the retention",
    TOO_SHORT,
    forDay(() => {}, { clientWindow: days(2) }),
  ),
  refused("a retention of more than 366 days", "which the handler rejects as its retentionSeconds", (stack) =>
    runner(stack, { retention: days(400) }),
  ),
  refused("a long retention of more than ten years", "more than any handler accepts", (stack) =>
    runner(stack, { retention: days(4000), allowLongRetention: true }),
  ),
  noted("a retention that is only known at deployment", "onceonly:retention-unknown", (stack) =>
    runner(stack, { retention: Duration.seconds(number(stack)) }),
  ),
  noted("a client window that is only known at deployment", "onceonly:retention-unknown", (stack) =>
    runner(stack, { clientWindow: Duration.seconds(number(stack)) }),
  ),
  refused("a queue with SQS's default settings", TOO_SHORT, forDay(consumed())),
  refused(
    "a queue whose receives take longer than the retention",
    "visibility timeout 30 s × 3000 receives",
    (stack) => {
      const retentionPeriod = Duration.minutes(1);
      const queue = aQueue(stack, { retentionPeriod }, "Parked");
      const fn = runner(stack, { retention: days(1) });
      consumed({ retentionPeriod, deadLetterQueue: { queue, maxReceiveCount: 3000 } })(stack, fn);
    },
  ),
  refused("a `DedupQueue` with a retention of a day", TOO_SHORT, (stack) =>
    new DedupQueue(stack, "Queue").addConsumer(runner(stack, { retention: days(1) })),
  ),
  refused("dead letters that are kept for longer than the retention", "1209600 s in Test/Parked", (stack) =>
    runner(stack, { retention: days(10) }).addEventSource(
      eventsOf(aQueue(stack, { deadLetterQueue: { queue: parked(stack), maxReceiveCount: 3 } })),
    ),
  ),
  refused("dead letters of a dead-letter queue", "1209600 s in Test/Last", (stack) => {
    const last = { queue: parked(stack, "Last"), maxReceiveCount: 3 };
    const queue = aQueue(stack, { deadLetterQueue: last }, "Parked");
    const settings = { deadLetterQueue: { queue, maxReceiveCount: 3 } };
    runner(stack, { retention: days(15) }).addEventSource(eventsOf(aQueue(stack, settings)));
  }),
  refused("a queue that feeds an alias", TOO_SHORT, (stack) => {
    const { currentVersion: version } = runner(stack, { retention: days(1) });
    new Alias(stack, "Live", { aliasName: "live", version }).addEventSource(eventsOf(aQueue(stack)));
  }),
  refused("a queue that feeds a version", TOO_SHORT, (stack) =>
    runner(stack, { retention: days(1) }).currentVersion.addEventSource(eventsOf(aQueue(stack))),
  ),
  refused("a queue of another stack", "345600 s in Other/Queue", (stack) => {
    const other = new Stack(stack.node.root, "Other", {
      env: { account: stack.account, region: stack.region },
    });
    runner(stack, { retention: days(1) }).addEventSource(eventsOf(aQueue(other)));
  }),
  refused(
    "a queue that feeds a plain event source mapping",
    TOO_SHORT,
    forDay((stack, fn) => {
      const { queueArn: eventSourceArn } = aQueue(stack);
      new CfnEventSourceMapping(stack, "Mapping", { eventSourceArn, functionName: fn.functionName });
    }),
  ),
  noted(
    "a queue of another app",
    "onceonly:retention-unknown",
    forDay((stack, fn) => {
      const arn = "arn:aws:sqs:eu-west-1:111111111111:given";
      const source = new SqsEventSource(Queue.fromQueueArn(stack, "Given", arn), {
        reportBatchItemFailures: true,
      });
      fn.addEventSource(source);
    }),
  ),
  noted(
    "dead letters in a queue of another app",
    "onceonly:retention-unknown",
    forDay((stack, fn) => {
      const queue = Queue.fromQueueArn(stack, "Given", "arn:aws:sqs:eu-west-1:111111111111:given");
      consumed({ deadLetterQueue: { queue, maxReceiveCount: 3 } })(stack, fn);
    }),
  ),
  noted(
    "a queue whose retention is only known at deployment",
    "onceonly:retention-unknown",
    forDay((stack, fn) => consumed({ retentionPeriod: Duration.seconds(number(stack)) })(stack, fn)),
  ),
  accepted(
    "an asynchronous caller in code, which doesn't appear in any template",
    "include its 6 hours in `clientWindow`",
    forDay((stack, fn) => fn.grantInvoke(aFunction(stack, "Caller"))),
  ),
  ...ofItem("H79: R1", [
    warned(
      "a queue that an OutboxRelay feeds, and a retention that only covers the queue",
      "onceonly:outbox-window",
      (stack) => fedByOutbox(stack, days(12)),
    ),
    warned(
      "a topic that an OutboxRelay feeds, and a retention that only covers the topic",
      "onceonly:sns-window",
      (stack) => {
        const topic = new Topic(stack, "Orders");
        relayTo(stack, topic);
        runner(stack, { retention: days(25) }).addEventSource(new SnsEventSource(topic));
      },
    ),
  ]),
];
