// The permissions for messages with `deliverAt`: those of EventBridge Scheduler to send, and of senders to create schedules.
import { Arn, ArnFormat, Stack } from "aws-cdk-lib";
import { Grant, type IGrantable, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { grantSendingTo, type OutboxDestination } from "./outbox-destination.ts";
import type { Need } from "./rules/endpoints.ts";

/** For functions without a way out of their VPC. */
export const NEED_OF_SCHEDULES: Need = {
  service: "scheduler",
  actions: ["scheduler:CreateSchedule"],
  resource: undefined,
};

const SCHEDULER = "scheduler.amazonaws.com";

export class OutboxSchedules {
  readonly role: Role;
  /** The option `scheduler` of senders, as JSON. */
  readonly asOption: string;
  readonly #group: IScheduleGroup;

  /** @throws Error for a FIFO queue, which EventBridge Scheduler doesn't accept for undelivered messages */
  constructor(scope: Construct, group: IScheduleGroup, undelivered: IQueue | undefined) {
    if (undelivered?.fifo) {
      throw new Error(
        `undeliveredQueue of ${scope.node.path} is ${undelivered.node.path}, a FIFO queue: EventBridge Scheduler only sends undelivered messages to standard queues`,
      );
    }
    this.#group = group;
    const { scheduleGroupArn } = group;
    // Only schedules of this group may use the role.
    // https://docs.aws.amazon.com/scheduler/latest/UserGuide/cross-service-confused-deputy-prevention.html
    this.role = new Role(scope, "SchedulerRole", {
      assumedBy: new ServicePrincipal(SCHEDULER, {
        conditions: {
          StringEquals: { "aws:SourceAccount": Stack.of(scope).account, "aws:SourceArn": scheduleGroupArn },
        },
      }),
    });
    if (undelivered) grantSendingTo(undelivered, this.role);
    this.asOption = Stack.of(scope).toJsonString({
      groupArn: scheduleGroupArn,
      roleArn: this.role.roleArn,
      ...(undelivered && { deadLetterQueueArn: undelivered.queueArn }),
    });
  }

  /** Lets EventBridge Scheduler send to a destination. */
  grantSendingTo(destination: OutboxDestination): Grant {
    return grantSendingTo(destination, this.role);
  }

  /** Grants these actions on the schedules of the group, and to pass the role on to EventBridge Scheduler. */
  grant(grantee: IGrantable, ...actions: ("scheduler:CreateSchedule" | "scheduler:DeleteSchedule")[]): Grant {
    const { scheduleGroupName } = this.#group;
    const schedules = Arn.format(
      {
        service: "scheduler",
        resource: "schedule",
        resourceName: `${scheduleGroupName}/*`,
        arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
      },
      Stack.of(this.role),
    );
    const passing = Grant.addToPrincipal({
      grantee,
      actions: ["iam:PassRole"],
      resourceArns: [this.role.roleArn],
      conditions: { StringEquals: { "iam:PassedToService": SCHEDULER } },
    });
    return Grant.addToPrincipal({ grantee, actions, resourceArns: [schedules] }).combine(passing);
  }
}
