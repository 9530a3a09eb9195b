/** Inputs of the operations on tables and streams, as in the AWS SDK. */
import type { OfTable } from "./item-operations.ts";
import type { AttributeDefinition, KeySchemaElement } from "./tables/key-schema.ts";

export interface StreamSpecification {
  readonly StreamEnabled?: boolean | undefined;
  readonly StreamViewType?: string | undefined;
}

export interface GlobalSecondaryIndexInput {
  readonly IndexName: string;
  readonly KeySchema: readonly KeySchemaElement[];
  readonly Projection: {
    readonly ProjectionType?: string | undefined;
    readonly NonKeyAttributes?: readonly string[] | undefined;
  };
  readonly ProvisionedThroughput?: unknown;
}

export interface CreateTableInput extends OfTable {
  readonly KeySchema: readonly KeySchemaElement[];
  readonly AttributeDefinitions: readonly AttributeDefinition[];
  readonly GlobalSecondaryIndexes?: readonly GlobalSecondaryIndexInput[] | undefined;
  readonly BillingMode?: string | undefined;
  readonly ProvisionedThroughput?:
    | { readonly ReadCapacityUnits?: number | undefined; readonly WriteCapacityUnits?: number | undefined }
    | undefined;
  readonly StreamSpecification?: StreamSpecification | undefined;
  readonly DeletionProtectionEnabled?: boolean | undefined;
}

export interface GetShardIteratorInput {
  readonly StreamArn: string;
  readonly ShardId: string;
  readonly ShardIteratorType: string;
  readonly SequenceNumber?: string | undefined;
}

export interface TimeToLive {
  readonly AttributeName: string;
  readonly Enabled: boolean;
}
