// A template's resource types: which are deployed locally and by which deployer, and which have no local meaning.
// A type that is in neither list is reported when a stack starts, so nothing is left out silently.
import type { DeployResource } from "./deploy-resource.ts";
import { TABLE_TYPES } from "./resources/dynamodb-table.ts";
import { EVENT_BUS_TYPES } from "./resources/event-bus.ts";
import { EVENT_SOURCE_TYPES } from "./resources/event-source-mapping.ts";
import { FUNCTION_URL_TYPES } from "./resources/function-url.ts";
import { HTTP_API_TYPES } from "./resources/http-api.ts";
import { FUNCTION_TYPES } from "./resources/lambda-function.ts";
import { REST_API_TYPES } from "./resources/rest-api.ts";
import { SCHEDULE_TYPES } from "./resources/schedule.ts";
import { TOPIC_TYPES } from "./resources/sns-topic.ts";
import { QUEUE_TYPES } from "./resources/sqs-queue.ts";

const DEPLOYED_TYPES: Readonly<Record<string, DeployResource>> = {
  ...TABLE_TYPES,
  ...QUEUE_TYPES,
  ...FUNCTION_TYPES,
  ...HTTP_API_TYPES,
  ...REST_API_TYPES,
  ...EVENT_SOURCE_TYPES,
  ...SCHEDULE_TYPES,
  ...EVENT_BUS_TYPES,
  ...TOPIC_TYPES,
  ...FUNCTION_URL_TYPES,
};

// Rights, logs, alarms and keys: whatever runs locally behaves the same without them.
const TYPES_WITHOUT_LOCAL_MEANING: ReadonlySet<string> = new Set([
  "AWS::ApiGateway::Account",
  "AWS::ApiGatewayV2::Deployment",
  "AWS::CDK::Metadata",
  "AWS::CloudWatch::Alarm",
  "AWS::CloudWatch::CompositeAlarm",
  "AWS::CloudWatch::Dashboard",
  "AWS::Events::EventBusPolicy",
  "AWS::IAM::ManagedPolicy",
  "AWS::IAM::Policy",
  "AWS::IAM::Role",
  "AWS::KMS::Alias",
  "AWS::KMS::Key",
  "AWS::Lambda::Permission",
  "AWS::Logs::LogGroup",
  "AWS::Logs::MetricFilter",
  "AWS::Logs::ResourcePolicy",
  "AWS::SNS::TopicInlinePolicy",
  "AWS::SNS::TopicPolicy",
  "AWS::SQS::QueueInlinePolicy",
  "AWS::SQS::QueuePolicy",
]);

export function deployerOf(type: string): DeployResource | undefined {
  return DEPLOYED_TYPES[type];
}

export function hasLocalMeaning(type: string): boolean {
  return !TYPES_WITHOUT_LOCAL_MEANING.has(type);
}
