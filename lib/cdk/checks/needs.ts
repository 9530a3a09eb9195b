// The AWS services and actions that the functions of an idempotency table need. No I/O.
import type { ITableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { OutboxDestination } from "../outbox-destination.ts";
import { QUEUE } from "../rules/app.ts";
import { EVENT_BUS, type Need, needOfSending, needOfUpdates, TOPIC } from "../rules/endpoints.ts";
import { ResolvedApp } from "./resolved-app.ts";
import { tableResource } from "./table-resources.ts";

export const needOfTable = (table: ITableV2): Need => needOfUpdates(tableResource(table));

export function needOf(destination: OutboxDestination): Need[] {
  const app = ResolvedApp.of(destination);
  const need = (arn: string, type: string) =>
    needOfSending(type, app.targetIn(app.resolve(arn, destination), type));
  if ("queueArn" in destination) return need(destination.queueArn, QUEUE);
  if ("topicArn" in destination) return need(destination.topicArn, TOPIC);
  return need(destination.eventBusArn, EVENT_BUS);
}
