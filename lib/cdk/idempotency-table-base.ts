// The grants and metrics of every idempotency table, created or imported.

import { Annotations, type RemovalPolicy, Resource } from "aws-cdk-lib";
import type { IMetric, Metric, MetricOptions } from "aws-cdk-lib/aws-cloudwatch";
import {
  type ITableV2,
  Operation,
  type OperationsMetricOptions,
  type SystemErrorsForOperationsMetricOptions,
} from "aws-cdk-lib/aws-dynamodb";
import { Grant, type IGrantable } from "aws-cdk-lib/aws-iam";
import { FilterCriteria, FilterRule } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { ATTRIBUTES, OUTBOX_INDEX, UNSETTLED_INDEX } from "../contract.ts";
import { brand } from "./brand.ts";
import { noteOperations } from "./checks/operations.ts";
import { noteSender, warnOfSecondRelay } from "./checks/relays.ts";
import type { IIdempotencyTable, TableNames } from "./idempotency-table-interface.ts";
import { withTableKey } from "./perms.ts";
import {
  closingTime,
  type RecordAccessOptions,
  type Right,
  rightsOf,
  SENDING_RIGHTS,
} from "./record-access.ts";

const HANDLER_OPERATIONS = [
  Operation.GET_ITEM,
  Operation.PUT_ITEM,
  Operation.UPDATE_ITEM,
  Operation.TRANSACT_WRITE_ITEMS,
];

export const TABLE_BRAND = Symbol.for("onceonly.IdempotencyTable");

export abstract class IdempotencyTableBase extends Resource implements IIdempotencyTable {
  abstract readonly table: ITableV2;
  abstract readonly outboxShards: number;
  abstract readonly listsUnknownOutcomes: boolean;
  abstract readonly restoredAt: Date | undefined;
  readonly names: TableNames = {};

  constructor(...args: ConstructorParameters<typeof Resource>) {
    super(...args);
    brand(this, TABLE_BRAND);
  }

  get tableName(): string {
    return this.table.tableName;
  }

  get tableArn(): string {
    return this.table.tableArn;
  }

  override applyRemovalPolicy(policy: RemovalPolicy): void {
    this.table.applyRemovalPolicy(policy);
  }

  get hasOutbox(): boolean {
    return this.outboxShards > 0;
  }

  /**
   * Filters for the event source of `outboxRelay`: it only receives changes that leave messages to send, so the many
   * others cost no invocation. It doesn't receive removals either, because they have no new image.
   */
  readonly outboxFilters: readonly Record<string, unknown>[] = [
    FilterCriteria.filter({
      dynamodb: { NewImage: { [ATTRIBUTES.unsentSince]: { N: FilterRule.exists() } } },
    }),
  ];

  /**
   * Grants the permissions to run operations: `PutItem` and `UpdateItem`, `GetItem` if the options need it, and the use of
   * the table's customer managed key if it has one. Without `operations` the grant covers every record, and synthesis
   * warns about it.
   * @throws Error for a restored table without `closedUntil`, and for a `scopeTag` with `commits` when there is an outbox
   */
  grantIdempotency(grantee: IGrantable, options: RecordAccessOptions = {}): Grant {
    if (this.hasOutbox && options.commits && options.scopeTag !== undefined) {
      throw new Error(
        `scopeTag is ${options.scopeTag}, commits is true, and ${this.node.path} has an outbox: a tenant's session could have any message sent with the relay's permissions. Leave commits out, or commit in a function that serves all tenants`,
      );
    }
    if (this.restoredAt && closingTime(options) === undefined) {
      throw new Error(
        `${this.node.path} was restored at ${this.restoredAt.toISOString()} and doesn't know what ran since its backup: pass closedUntil, or apply UseIdempotency, which computes it`,
      );
    }
    const grant = this.#grant(grantee, rightsOf(options, this.hasOutbox));
    if (options.operations === undefined) this.#warnOfAll(grantee);
    noteOperations(this, options);
    return grant;
  }

  /**
   * Grants the permissions that `outboxRelay` needs on this table: `GetItem` and `UpdateItem`, `DeleteItem` in transactions,
   * and the use of its key. The event source grants reading the stream, and the destinations grant sending.
   * @throws Error when `outbox` is off
   */
  grantRelay(grantee: IGrantable): Grant {
    const grant = this.#grantSending(grantee);
    warnOfSecondRelay(this, grantee);
    return grant;
  }

  #grantSending(grantee: IGrantable): Grant {
    if (this.hasOutbox) {
      noteSender(this);
      return this.#grant(grantee, SENDING_RIGHTS);
    }
    throw new Error(`outbox of ${this.node.path} is off, so there's nothing to relay: set it to true`);
  }

  /**
   * Grants the permissions that `outboxSweeper` needs on this table: those of the relay, and `Query` on the outbox index.
   * @throws Error when `outbox` is off
   */
  grantSweeper(grantee: IGrantable, indexName: string = OUTBOX_INDEX): Grant {
    return this.#grantSending(grantee).combine(this.#grantQuery(grantee, indexName));
  }

  /**
   * Grants the permissions that `unknownOutcomes` and `resolveOutcome` need on the records of every operation: `Query` on the
   * index of unknown outcomes, `GetItem`, `UpdateItem` without messages, `PutItem` for large results, and the use of the key.
   * @throws Error when `unknownOutcomes` is off
   */
  grantResolving(grantee: IGrantable): Grant {
    if (!this.listsUnknownOutcomes) {
      throw new Error(
        `unknownOutcomes of ${this.node.path} is off, so unknown outcomes can't be listed: set it to true (in a separate deployment if the table already exists)`,
      );
    }
    return this.#grant(grantee, rightsOf({}, this.hasOutbox)).combine(
      this.#grantQuery(grantee, UNSETTLED_INDEX),
    );
  }

  #grantQuery(grantee: IGrantable, index: string): Grant {
    return Grant.addToPrincipal({
      grantee,
      actions: ["dynamodb:Query"],
      resourceArns: [`${this.table.tableArn}/index/${index}`],
    });
  }

  metricConditionalCheckFailedRequests(options?: MetricOptions): Metric {
    return this.table.metricConditionalCheckFailedRequests(options);
  }

  metricThrottledRequests(options?: OperationsMetricOptions): IMetric {
    return this.table.metricThrottledRequestsForOperations({ operations: HANDLER_OPERATIONS, ...options });
  }

  metricSystemErrors(options?: SystemErrorsForOperationsMetricOptions): IMetric {
    return this.table.metricSystemErrorsForOperations({ operations: HANDLER_OPERATIONS, ...options });
  }

  /** An app can acknowledge it: `Annotations.of(fn).acknowledgeWarning("onceonly:operations-unfenced")`. */
  #warnOfAll(grantee: IGrantable): void {
    const holder = Construct.isConstruct(grantee) ? grantee : this;
    Annotations.of(holder).addWarningV2(
      "onceonly:operations-unfenced",
      `${holder === this ? "a grantee" : holder.node.path} can read and change the records of every operation in ${this.node.path}: pass \`operations\` with the names of the operations that it runs`,
    );
  }

  #grant(grantee: IGrantable, rights: readonly Right[]): Grant {
    const { tableArn, encryptionKey } = this.table;
    // `table.grants.actions` adds all indexes, which these actions don't need, and leaves out the use of the key.
    const grants = rights.map(({ actions, conditions }) =>
      Grant.addToPrincipal({
        grantee,
        actions: [...actions],
        resourceArns: [tableArn],
        ...(Object.keys(conditions).length > 0 && { conditions: { ...conditions } }),
      }),
    );
    const grant = grants.reduce((all, next) => all.combine(next));
    return withTableKey(grant, encryptionKey, grantee);
  }
}
