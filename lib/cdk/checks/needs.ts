// What the functions of an idempotency table ask of AWS services. No I/O.
import type { ITableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { OutboxDestination } from "../outbox-destination.ts";
import { QUEUE } from "../rules/app.ts";
import type { Need } from "../rules/endpoints.ts";
import { ResolvedApp } from "./resolved-app.ts";
import { tableResource } from "./table-resources.ts";

/** Requests to a table, such as `UpdateItem`. */
export const needOfTable = (table: ITableV2, ...actions: readonly string[]): Need => ({
  service: "dynamodb",
  actions: actions.map((action) => `dynamodb:${action}`),
  resource: tableResource(table),
});

export function needOf(destination: OutboxDestination): Need {
  const app = ResolvedApp.of(destination);
  const resourceOf = (arn: string, type: string) => app.targetIn(app.resolve(arn, destination), type);
  if ("queueArn" in destination) {
    const resource = resourceOf(destination.queueArn, QUEUE);
    return { service: "sqs", actions: ["sqs:SendMessage"], resource };
  }
  if ("topicArn" in destination) {
    const resource = resourceOf(destination.topicArn, "AWS::SNS::Topic");
    return { service: "sns", actions: ["sns:Publish"], resource };
  }
  const resource = resourceOf(destination.eventBusArn, "AWS::Events::EventBus");
  return { service: "events", actions: ["events:PutEvents"], resource };
}
