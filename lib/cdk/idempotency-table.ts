// The table that holds the records, with the settings the protocol relies on.
// It may touch aws-cdk-lib, constructs and contract.ts only.
import { RemovalPolicy, Stack } from "aws-cdk-lib";
import {
  AttributeType,
  Billing,
  type CfnGlobalTable,
  type ITableV2,
  ProjectionType,
  StreamViewType,
  TableEncryptionV2,
  TableV2,
} from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import { ATTRIBUTES, OUTBOX_INDEX } from "../contract.ts";
import { IdempotencyTableBase, type IIdempotencyTable } from "./idempotency-table-base.ts";
import {
  type IdempotencyTableAttributes,
  type IdempotencyTableProps,
  TABLE_DEFAULTS,
} from "./idempotency-table-props.ts";
import { checkTable, replicationFaults } from "./table-checks.ts";
import { withDefaults } from "./with-defaults.ts";

/**
 * A DynamoDB table for idempotency records: on-demand, expiring by TTL, and kept when its stack goes.
 */
export class IdempotencyTable extends IdempotencyTableBase {
  /** Uses a table that exists already, of another stack for example. Its settings are not checked. */
  static fromTableAttributes(
    scope: Construct,
    id: string,
    attributes: IdempotencyTableAttributes,
  ): IIdempotencyTable {
    return new ImportedTable(scope, id, attributes);
  }

  readonly table: TableV2;
  readonly hasOutbox: boolean;
  readonly restoredAt: Date | undefined;

  constructor(scope: Construct, id: string, props: IdempotencyTableProps = {}) {
    super(scope, id);
    checkTable(this.node.path, props);
    const { outbox, removalPolicy, pointInTimeRecovery } = withDefaults(props, TABLE_DEFAULTS);
    this.hasOutbox = outbox;
    this.restoredAt = props.restoredAt;
    this.table = new TableV2(this, "Resource", {
      ...(props.tableName !== undefined && { tableName: props.tableName }),
      partitionKey: { name: ATTRIBUTES.partitionKey, type: AttributeType.STRING },
      timeToLiveAttribute: ATTRIBUTES.expiresAt,
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: pointInTimeRecovery },
      ...(props.encryptionKey && { encryption: TableEncryptionV2.customerManagedKey(props.encryptionKey) }),
      deletionProtection: props.deletionProtection ?? removalPolicy !== RemovalPolicy.DESTROY,
      removalPolicy,
      ...(props.replicas && { replicas: props.replicas }),
      ...(outbox && {
        dynamoStream: StreamViewType.NEW_IMAGE,
        globalSecondaryIndexes: [
          {
            indexName: OUTBOX_INDEX,
            partitionKey: { name: ATTRIBUTES.unsentShard, type: AttributeType.NUMBER },
            sortKey: { name: ATTRIBUTES.unsentSince, type: AttributeType.NUMBER },
            projectionType: ProjectionType.KEYS_ONLY,
          },
        ],
      }),
    });
    // `table.addReplica` may come later.
    this.node.addValidation({
      validate: () => replicationFaults(this.node.path, this.#otherRegions(), props),
    });
  }

  #otherRegions(): string[] {
    const { replicas } = this.table.node.defaultChild as CfnGlobalTable;
    const regions: { region: string }[] = Stack.of(this).resolve(replicas);
    // The table's own comes last.
    return regions.slice(0, -1).map(({ region }) => region);
  }
}

class ImportedTable extends IdempotencyTableBase {
  readonly table: ITableV2;
  readonly hasOutbox: boolean;
  readonly restoredAt: Date | undefined;

  constructor(scope: Construct, id: string, { restoredAt, ...attributes }: IdempotencyTableAttributes) {
    super(scope, id);
    checkTable(this.node.path, { restoredAt });
    this.table = TableV2.fromTableAttributes(this, "Resource", attributes);
    this.hasOutbox = attributes.tableStreamArn !== undefined;
    this.restoredAt = restoredAt;
  }
}
