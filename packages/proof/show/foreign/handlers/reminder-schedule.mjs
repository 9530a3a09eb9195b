import { CreateScheduleCommand, SchedulerClient } from "@aws-sdk/client-scheduler";

const scheduler = new SchedulerClient({});

export const handler = async ({ reminderId, at }) => {
  await scheduler.send(
    new CreateScheduleCommand({
      Name: reminderId,
      ScheduleExpression: `at(${at})`,
      FlexibleTimeWindow: { Mode: "OFF" },
      Target: { Arn: process.env.TARGET_ARN, RoleArn: process.env.ROLE_ARN },
    }),
  );
};
