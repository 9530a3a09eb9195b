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
    "a service with signs that CloudWatch does not take",
    "which CloudWatch doesn't accept",
    watched({ service: "Bücher" }),
  ),
  refused(
    "a service with a name of 300 characters",
    "which CloudWatch doesn't accept",
    watched({ service: "s".repeat(300) }),
  ),
  refused(
    "a namespace of AWS's own",
    "which CloudWatch doesn't accept",
    watched({ namespace: "AWS/Lambda" }),
  ),
  refused(
    "another service than the relay's",
    'service of Test/Monitoring is "shop"',
    ofRelay("relay", { service: "shop" }),
  ),
  refused(
    "another namespace than the relay's",
    'namespace of Test/Monitoring is "Shop"',
    ofRelay("relay", { namespace: "Shop" }),
  ),
  refused(
    "another service than the sweeper's",
    'service of Test/Monitoring is "shop"',
    ofRelay("sweeper", { service: "shop" }),
  ),
  warned("two stages of one account under one service", "onceonly:shared-service", (stack) => {
    for (const id of ["Beta", "Prod"]) {
      const own = new OtherStack(new Stage(stack.node.root, id, { env: ENV }), "Shop");
      new IdempotencyMonitoring(own, "Monitoring", { table: tableIn(own) });
    }
  }),
  warned("two tables of one stack under one service", "onceonly:shared-service", (stack) => {
    for (const id of ["One", "Two"]) {
      new IdempotencyMonitoring(stack, id, { table: new IdempotencyTable(stack, `${id}Table`) });
    }
  }),
  refused("a preset that there is not", 'is "some": use', watched({ alarms: "some" as never })),
  refusedByCdk(
    "a dashboard with a name that CloudWatch does not take",
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
    "they are seen on the dashboard; who is to be paged is the app's choice",
    watched({}),
  ),
  accepted("no alarms at all", "who writes `none` means it", watched({ alarms: "none" })),
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
    "a fraction where a percentage is meant",
    "did you mean 80?",
    watched({ addReplayRateAlarm: { Warning: { threshold: 0.8 } } }),
  ),
  refused(
    "a rate of more than 100 percent",
    "so the alarm would never fire",
    watched({ addReplayRateAlarm: { Warning: { threshold: 100 } } }),
  ),
  warned(
    "an alarm on dead letters that are older than their queue keeps them",
    "onceonly:silent-alarm",
    (stack) => {
      const dead = new Queue(stack, "Dead", { retentionPeriod: Duration.days(1) });
      watched({ deadLetterQueues: [dead], addDeadLetterAgeAlarm: { Critical: { threshold: 86_400 } } })(
        stack,
      );
    },
  ),
  warned(
    "the default alarm on the age of dead letters, which their queue keeps for an hour",
    "onceonly:silent-alarm",
    (stack) => {
      const dead = new Queue(stack, "Dead", { retentionPeriod: Duration.hours(1) });
      watched({ deadLetterQueues: [dead] })(stack);
    },
  ),
  refused("an alarm on an iterator age of more than the stream keeps", "keeps 24 hours", (stack) => {
    const table = tableIn(stack, { outbox: true });
    const { relay } = new OutboxRelay(stack, "Outbox", { table, destinations: [new Queue(stack, "To")] });
    const addRelayIteratorAgeAlarm = { Critical: { threshold: 172_800_000 } };
    new IdempotencyMonitoring(stack, "Monitoring", { table, relay, addRelayIteratorAgeAlarm });
  }),
  refused(
    "a runbook without an absolute address",
    "which alarms can't link to",
    watched({ runbookUrl: "docs/runbook.md" }),
  ),
];
