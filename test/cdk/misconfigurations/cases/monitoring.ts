import { Duration, Stack as OtherStack, type Stack, Stage } from "aws-cdk-lib";
import { Queue } from "aws-cdk-lib/aws-sqs";
import {
  IdempotencyMonitoring,
  type IdempotencyMonitoringProps,
  IdempotencyTable,
  OutboxRelay,
} from "onceonly/cdk";
import { accepted, ENV, type Misconfiguration, refused, refusedByCdk, tableIn, warned } from "../given.ts";

const watched = (props: Partial<IdempotencyMonitoringProps>) => (stack: Stack) =>
  new IdempotencyMonitoring(stack, "Monitoring", { table: tableIn(stack), ...props });

/** A relay under one name, watched under another. */
const ofRelay =
  (which: "relay" | "sweeper", own: { service?: string; namespace?: string }) => (stack: Stack) => {
    const table = tableIn(stack, { outbox: true });
    const outbox = new OutboxRelay(stack, "Outbox", { table, destinations: [new Queue(stack, "To")] });
    new IdempotencyMonitoring(stack, "Monitoring", { table, [which]: outbox[which], ...own });
  };

export const MONITORING: readonly Misconfiguration[] = [
  refused("a service without a name", 'service of Test/Monitoring is ""', watched({ service: "" })),
  refused(
    "a service name with characters that CloudWatch doesn't accept",
    "which CloudWatch doesn't accept",
    watched({ service: "Bücher" }),
  ),
  refused(
    "a service with a name of 300 characters",
    "which CloudWatch doesn't accept",
    watched({ service: "s".repeat(300) }),
  ),
  refused(
    "a namespace that is reserved for AWS",
    "which CloudWatch doesn't accept",
    watched({ namespace: "AWS/Lambda" }),
  ),
  refused(
    "a different service than the relay's",
    'service of Test/Monitoring is "shop"',
    ofRelay("relay", { service: "shop" }),
  ),
  refused(
    "a different namespace than the relay's",
    'namespace of Test/Monitoring is "Shop"',
    ofRelay("relay", { namespace: "Shop" }),
  ),
  refused(
    "a different service than the sweeper's",
    'service of Test/Monitoring is "shop"',
    ofRelay("sweeper", { service: "shop" }),
  ),
  warned("two stages of one account with the same service", "onceonly:shared-service", (stack) => {
    for (const id of ["Beta", "Prod"]) {
      const own = new OtherStack(new Stage(stack.node.root, id, { env: ENV }), "Shop");
      new IdempotencyMonitoring(own, "Monitoring", { table: tableIn(own) });
    }
  }),
  warned("two tables of one stack with the same service", "onceonly:shared-service", (stack) => {
    for (const id of ["One", "Two"]) {
      new IdempotencyMonitoring(stack, id, { table: new IdempotencyTable(stack, `${id}Table`) });
    }
  }),
  refused("a preset that doesn't exist", 'is "some": use', watched({ alarms: "some" as never })),
  refusedByCdk(
    "a dashboard with a name that CloudWatch doesn't accept",
    "contains invalid characters",
    watched({ dashboardName: "the shop" }),
  ),
  refusedByCdk(
    "an alarm with a period of 45 seconds",
    "period",
    watched({ addHeldAlarm: { Critical: { threshold: 0, period: Duration.seconds(45) } } }),
  ),
  accepted(
    "alarms without actions",
    "the dashboard shows them; whom to page is the app's choice",
    watched({}),
  ),
  accepted("no alarms at all", "`none` is a deliberate choice", watched({ alarms: "none" })),
  refused(
    "a threshold that isn't a number",
    "is NaN: use a finite number",
    watched({ addHeldAlarm: { Critical: { threshold: Number.NaN } } }),
  ),
  refused(
    "a negative threshold",
    "so the alarm would always fire",
    watched({ addMismatchesAlarm: { Warning: { threshold: -1 } } }),
  ),
  refused(
    "a fraction instead of a percentage",
    "did you mean 80?",
    watched({ addReplayRateAlarm: { Warning: { threshold: 0.8 } } }),
  ),
  refused(
    "a rate of more than 100 percent",
    "so the alarm would never fire",
    watched({ addReplayRateAlarm: { Warning: { threshold: 100 } } }),
  ),
  warned(
    "an alarm on dead letters that are older than their queue's retention",
    "onceonly:silent-alarm",
    (stack) => {
      const dead = new Queue(stack, "Dead", { retentionPeriod: Duration.days(1) });
      watched({ deadLetterQueues: [dead], addDeadLetterAgeAlarm: { Critical: { threshold: 86_400 } } })(
        stack,
      );
    },
  ),
  warned(
    "the default alarm on the age of dead letters, with a queue that keeps them for an hour",
    "onceonly:silent-alarm",
    (stack) => {
      const dead = new Queue(stack, "Dead", { retentionPeriod: Duration.hours(1) });
      watched({ deadLetterQueues: [dead] })(stack);
    },
  ),
  refused(
    "an alarm on an iterator age that is longer than the stream's retention",
    "keeps 24 hours",
    (stack) => {
      const table = tableIn(stack, { outbox: true });
      const { relay } = new OutboxRelay(stack, "Outbox", { table, destinations: [new Queue(stack, "To")] });
      const addRelayIteratorAgeAlarm = { Critical: { threshold: 172_800_000 } };
      new IdempotencyMonitoring(stack, "Monitoring", { table, relay, addRelayIteratorAgeAlarm });
    },
  ),
  refused(
    "a runbook without an absolute address",
    "which alarms can't link to",
    watched({ runbookUrl: "docs/runbook.md" }),
  ),
];
