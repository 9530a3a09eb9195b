// The table of the records, with the settings that the protocol relies on.
import { CfnDeletionPolicy, RemovalPolicy, Stack } from "aws-cdk-lib";
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
import { ATTRIBUTES, OUTBOX_INDEX, UNSETTLED_INDEX } from "../contract.ts";
import { isBranded } from "./brand.ts";
import { writeMetadata } from "./checks/metadata.ts";
import { walkOnce } from "./checks/resources.ts";
import { tableFaults, warnOfReplicas } from "./checks/table-resources.ts";
import { checkRestoration, checkShards, checkTable, replicationFaults } from "./checks/tables.ts";
import { IdempotencyTableBase, TABLE_BRAND } from "./idempotency-table-base.ts";
import type { IIdempotencyTable, TableNames } from "./idempotency-table-interface.ts";
import {
  type IdempotencyTableAttributes,
  type IdempotencyTableProps,
  TABLE_DEFAULTS,
} from "./idempotency-table-props.ts";
import { injected } from "./injected.ts";
import { protectionFaults } from "./rules/tables.ts";
import { withDefaults } from "./with-defaults.ts";

/** A DynamoDB table for idempotency records: on-demand, with TTL, and retained when its stack is deleted. */
export class IdempotencyTable extends IdempotencyTableBase {
  /** The id that property injectors of the app use for this construct. */
  static readonly PROPERTY_INJECTION_ID: string = "onceonly.cdk.IdempotencyTable";

  /** Whether it's an idempotency table: created, imported or a replica, even if another copy of this package made it. */
  static isIdempotencyTable(construct: unknown): construct is IIdempotencyTable {
    return isBranded(construct, TABLE_BRAND);
  }

  /** Imports the table with this name in the account and Region of the stack: see `fromTableAttributes`. */
  static fromTableName(scope: Construct, id: string, tableName: string): IIdempotencyTable {
    return IdempotencyTable.fromTableAttributes(scope, id, { tableName });
  }

  /** Imports the table with this ARN: see `fromTableAttributes`. */
  static fromTableArn(scope: Construct, id: string, tableArn: string): IIdempotencyTable {
    return IdempotencyTable.fromTableAttributes(scope, id, { tableArn });
  }

  /**
   * Imports an existing table, for example from another stack. If the same app defines the table, even under a literal name,
   * synthesis compares the two: its customer managed key, its key and TTL attribute names, and its stream's view type must
   * match these attributes. Synthesis warns with `onceonly:no-expiry` if it has no TTL, and with `onceonly:replicated-table`
   * if it has replicas.
   */
  static fromTableAttributes(
    scope: Construct,
    id: string,
    attributes: IdempotencyTableAttributes,
  ): IIdempotencyTable {
    return new ImportedTable(scope, id, attributes);
  }

  readonly table: TableV2;
  readonly outboxShards: number;
  readonly listsUnknownOutcomes: boolean;
  readonly restoredAt: Date | undefined;

  constructor(scope: Construct, id: string, props: IdempotencyTableProps = {}) {
    super(scope, id);
    props = injected(IdempotencyTable.PROPERTY_INJECTION_ID, scope, id, props);
    checkTable(this, props);
    const { encryptionKey, maxWriteRequestUnits, warmThroughput } = props;
    const { contributorInsightsSpecification, resourcePolicy, replicas, tableName } = props;
    const { outbox, outboxShards, unknownOutcomes, removalPolicy, pointInTimeRecovery } = withDefaults(
      props,
      TABLE_DEFAULTS,
    );
    this.listsUnknownOutcomes = unknownOutcomes;
    checkShards(this.node.path, "outboxShards", props.outboxShards, outbox);
    this.outboxShards = outbox ? outboxShards : 0;
    this.restoredAt = props.restoredAt;
    this.table = new TableV2(this, "Default", {
      ...(tableName !== undefined && { tableName }),
      partitionKey: { name: ATTRIBUTES.partitionKey, type: AttributeType.STRING },
      timeToLiveAttribute: ATTRIBUTES.expiresAt,
      billing: Billing.onDemand(maxWriteRequestUnits === undefined ? {} : { maxWriteRequestUnits }),
      ...(warmThroughput && { warmThroughput }),
      ...(contributorInsightsSpecification && { contributorInsightsSpecification }),
      ...(resourcePolicy && { resourcePolicy }),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: pointInTimeRecovery },
      ...(encryptionKey && {
        encryption: TableEncryptionV2.customerManagedKey(encryptionKey, props.replicaKeyArns),
      }),
      deletionProtection: props.deletionProtection ?? removalPolicy !== RemovalPolicy.DESTROY,
      removalPolicy,
      ...(replicas && { replicas }),
      ...(outbox && { dynamoStream: StreamViewType.NEW_IMAGE }),
      ...((outbox || unknownOutcomes) && {
        globalSecondaryIndexes: [
          ...(outbox ? [sparseIndex(OUTBOX_INDEX, ATTRIBUTES.unsentShard, ATTRIBUTES.unsentSince)] : []),
          ...(unknownOutcomes
            ? [sparseIndex(UNSETTLED_INDEX, ATTRIBUTES.unsettledShard, ATTRIBUTES.unsettledSince)]
            : []),
        ],
      }),
    });
    if (replicas && props.keysPinnedToRegion) writeMetadata(this.table, { keysPinnedToRegion: true });
    walkOnce(this);
    this.node.addValidation({ validate: () => [...this.#faults(props), ...tableFaults(this, props)] });
  }

  /**
   * The table for functions in another region: one of `replicas`, or the table itself in its own region. Use each key in one
   * region only. To share a table between stacks of several regions, set `tableName`, and set the region of its stack.
   * @throws Error for a region that has no replica
   */
  replica(region: string): IIdempotencyTable {
    if (region === Stack.of(this).region) return this;
    const id = `Replica-${region}`;
    const known = this.node.tryFindChild(id) as ReplicaTable | undefined;
    return known ?? new ReplicaTable(this, id, this, region);
  }

  /** Checks changes that came later: `table.addReplica`, `RemovalPolicies.of(stack).destroy()`. */
  #faults(props: IdempotencyTableProps): string[] {
    const { path } = this.node;
    const resource = this.table.node.defaultChild as CfnGlobalTable;
    const replicas: Replica[] = Stack.of(this).resolve(resource.replicas);
    // The table's own region comes last.
    const isProtected = replicas.at(-1)?.deletionProtectionEnabled === true;
    const otherRegions = replicas.slice(0, -1).map(({ region }) => region);
    const isDestroyed = resource.cfnOptions.deletionPolicy === CfnDeletionPolicy.DELETE;
    return [
      ...protectionFaults(path, isProtected, isDestroyed),
      ...replicationFaults(path, otherRegions, props),
    ];
  }
}

const sparseIndex = (indexName: string, shard: string, since: string) => ({
  indexName,
  partitionKey: { name: shard, type: AttributeType.NUMBER },
  sortKey: { name: since, type: AttributeType.NUMBER },
  projectionType: ProjectionType.KEYS_ONLY,
});

interface Replica {
  readonly region: string;
  readonly deletionProtectionEnabled?: boolean;
}

/** A table with replicas can't have an outbox, so neither can a replica. */
class ReplicaTable extends IdempotencyTableBase {
  readonly table: ITableV2;
  readonly outboxShards = 0;
  readonly listsUnknownOutcomes: boolean;
  readonly restoredAt: Date | undefined;

  constructor(scope: Construct, id: string, source: IdempotencyTable, region: string) {
    super(scope, id, { region });
    this.table = source.table.replica(region);
    this.listsUnknownOutcomes = source.listsUnknownOutcomes;
    this.restoredAt = source.restoredAt;
  }
}

class ImportedTable extends IdempotencyTableBase {
  readonly table: ITableV2;
  readonly outboxShards: number;
  readonly listsUnknownOutcomes: boolean;
  readonly restoredAt: Date | undefined;
  override readonly names: TableNames;

  constructor(
    scope: Construct,
    id: string,
    {
      restoredAt,
      outboxShards,
      unknownOutcomes,
      partitionKey,
      sortKey,
      ttlAttribute,
      ...attributes
    }: IdempotencyTableAttributes,
  ) {
    super(scope, id, attributes.tableArn === undefined ? {} : { environmentFromArn: attributes.tableArn });
    this.names = { partitionKey, sortKey, ttlAttribute };
    checkRestoration(this.node.path, restoredAt);
    this.table = TableV2.fromTableAttributes(this, "Default", attributes);
    checkShards(this.node.path, "outboxShards", outboxShards, attributes.tableStreamArn !== undefined);
    this.outboxShards =
      attributes.tableStreamArn === undefined ? 0 : (outboxShards ?? TABLE_DEFAULTS.outboxShards);
    this.listsUnknownOutcomes = unknownOutcomes ?? TABLE_DEFAULTS.unknownOutcomes;
    this.restoredAt = restoredAt;
    walkOnce(this);
    this.node.addValidation({
      validate: () => {
        warnOfReplicas(this);
        return tableFaults(this, attributes);
      },
    });
  }
}
