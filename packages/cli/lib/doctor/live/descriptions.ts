/** Descriptions of AWS in the form of a template's properties. Pure; of variables only those that onceonly reads. */
import type { MetricAlarm } from "@aws-sdk/client-cloudwatch";
import type { TableDescription } from "@aws-sdk/client-dynamodb";
import type { EventSourceMappingConfiguration, FunctionConfiguration } from "@aws-sdk/client-lambda";
import { ENVIRONMENT } from "onceonly/kit";
import type { DiagnosedTable, MappingProperties, QueueProperties } from "../diagnosed-stack.ts";
import type { LiveMapping, LiveTable } from "../live-checks.ts";

export function tableProperties(table: TableDescription): LiveTable & DiagnosedTable {
  const { StreamSpecification: stream, GlobalSecondaryIndexes: indexes = [] } = table;
  return {
    Status: `${table.TableStatus}`,
    GlobalSecondaryIndexes: indexes.map(({ IndexName, IndexStatus }) => ({
      IndexName: `${IndexName}`,
      Status: `${IndexStatus}`,
    })),
    ...(stream?.StreamEnabled && {
      StreamSpecification: { StreamViewType: `${stream.StreamViewType}` },
    }),
  };
}

/** The Regions of a table, of which a description may leave out its own. */
export function regionsOf({ Replicas = [] }: TableDescription, own: string): readonly string[] {
  return [...new Set([own, ...Replicas.flatMap(({ RegionName }) => RegionName ?? [])])];
}

export function queueProperties(
  attributes: Readonly<Record<string, string>>,
  refer: (arn: string) => unknown,
): QueueProperties {
  const { VisibilityTimeout, MessageRetentionPeriod } = attributes;
  const { deadLetterTargetArn, maxReceiveCount } = redrivePolicyOf(attributes);
  return {
    FifoQueue: attributes.FifoQueue === "true",
    ContentBasedDeduplication: attributes.ContentBasedDeduplication === "true",
    ...(VisibilityTimeout !== undefined && { VisibilityTimeout: Number(VisibilityTimeout) }),
    ...(MessageRetentionPeriod !== undefined && { MessageRetentionPeriod: Number(MessageRetentionPeriod) }),
    ...(deadLetterTargetArn !== undefined && {
      RedrivePolicy: {
        deadLetterTargetArn: refer(deadLetterTargetArn),
        maxReceiveCount: Number(maxReceiveCount),
      },
    }),
  };
}

export function redrivePolicyOf({ RedrivePolicy }: Readonly<Record<string, string>>): {
  readonly deadLetterTargetArn?: string;
  readonly maxReceiveCount?: unknown;
} {
  try {
    return Object(JSON.parse(RedrivePolicy || "{}"));
  } catch {
    return {};
  }
}

/** Others may be secrets. */
const READ_VARIABLES = [
  ENVIRONMENT.retentionSeconds,
  ENVIRONMENT.outbox,
  ENVIRONMENT.outboxDestinations,
  ENVIRONMENT.outboxShards,
];

/** @param table what stands for the table of records; absent where the function names none */
export function variablesOf(
  variables: Readonly<Record<string, string>>,
  table: unknown,
): Readonly<Record<string, unknown>> {
  return {
    ...(table !== undefined && { [ENVIRONMENT.idempotencyTable]: table }),
    ...Object.fromEntries(
      READ_VARIABLES.filter((name) => variables[name] !== undefined).map((name) => [name, variables[name]]),
    ),
  };
}

export function functionProperties(
  { Runtime, Timeout, State, StateReasonCode, LastUpdateStatus }: FunctionConfiguration,
  Variables: Readonly<Record<string, unknown>>,
): object {
  return {
    ...(Runtime !== undefined && { Runtime }),
    ...(Timeout !== undefined && { Timeout }),
    Environment: { Variables },
    State,
    StateReasonCode,
    LastUpdateStatus,
  };
}

export function mappingProperties(
  mapping: EventSourceMappingConfiguration,
): Omit<MappingProperties & LiveMapping, "EventSourceArn" | "FunctionName"> {
  const { State, StartingPosition, MaximumRetryAttempts, LastProcessingResult } = mapping;
  return {
    Enabled: !/^(Disabl|Delet)/.test(`${State}`),
    FunctionResponseTypes: mapping.FunctionResponseTypes ?? [],
    MaximumBatchingWindowInSeconds: mapping.MaximumBatchingWindowInSeconds ?? 0,
    FilterCriteria: {
      Filters: (mapping.FilterCriteria?.Filters ?? []).map(({ Pattern = "" }) => ({ Pattern })),
    },
    ...(StartingPosition !== undefined && { StartingPosition }),
    ...(MaximumRetryAttempts !== undefined && { MaximumRetryAttempts }),
    ...(LastProcessingResult !== undefined && { LastProcessingResult }),
  };
}

/** @param refer what stands for the value of a dimension of that name */
export function alarmProperties(
  { MetricName, ActionsEnabled, Dimensions = [] }: MetricAlarm,
  refer: (name: string, value: string) => unknown,
): object {
  return {
    ...(MetricName !== undefined && { MetricName }),
    ActionsEnabled: ActionsEnabled !== false,
    Dimensions: Dimensions.map(({ Name = "", Value = "" }) => ({ Name, Value: refer(Name, Value) })),
  };
}

/** The services that the policy of a function lets call it. */
export function callersOf(policy: string): readonly string[] {
  const { Statement = [] }: { Statement?: readonly { Effect?: string; Principal?: unknown }[] } = Object(
    JSON.parse(policy),
  );
  return Statement.filter(({ Effect }) => Effect === "Allow").flatMap(({ Principal }) =>
    typeof Principal === "object" && Principal !== null
      ? [(Principal as { Service?: string | string[] }).Service ?? []].flat()
      : [],
  );
}
