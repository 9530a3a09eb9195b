// Checks tables that the same app defines, as they are in its templates. No I/O.
import type { CfnResource } from "aws-cdk-lib";
import type { ITable, ITableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { IConstruct } from "constructs";
import { ATTRIBUTES } from "../../contract.ts";
import type { IIdempotencyTable, TableNames } from "../idempotency-table-interface.ts";
import type { IdempotencyTableAttributes } from "../idempotency-table-props.ts";
import { ownerPath, type Resource, TABLES } from "../rules/app.ts";
import {
  findInTable,
  findRelayIndex,
  findRelayKeys,
  findReplicas,
  type RecordTable,
  type RelayUse,
} from "../rules/tables.ts";
import { reported } from "./report.ts";
import { ResolvedApp } from "./resolved-app.ts";
import { walkOnce } from "./resources.ts";

const known = new WeakMap<ResolvedApp, Map<ITableV2, CfnResource | undefined>>();

/** The resource of a table, even if it's imported by a literal name or ARN. At synthesis only. */
export function tableResource(table: ITableV2): CfnResource | undefined {
  const app = ResolvedApp.of(table);
  const ofApp = known.get(app) ?? new Map<ITableV2, CfnResource | undefined>();
  known.set(app, ofApp);
  if (!ofApp.has(table)) {
    const resource = app.targetIn(app.resolve(table.tableArn, table), ...TABLES);
    ofApp.set(table, resource as CfnResource | undefined);
  }
  return ofApp.get(table);
}

type Known = Pick<IdempotencyTableAttributes, "encryptionKey">;

/** Faults that would otherwise only show in the first request of a function or a relay, or never. */
export const tableFaults = (table: IIdempotencyTable, known: Known) =>
  withTable(table, known, (app, said, report) => findInTable(app, said, report));

/** Only warns, because each key may be used in just one region. */
export const warnOfReplicas = (table: IIdempotencyTable) =>
  void withTable(table, {}, (app, said, report) => findReplicas(app, said, report));

function withTable(
  table: IIdempotencyTable,
  { encryptionKey }: Known,
  find: (app: ResolvedApp, said: RecordTable, report: Parameters<typeof findInTable>[2]) => void,
): string[] {
  const resource = tableResource(table.table);
  if (!resource) return [];
  const { names, hasOutbox, listsUnknownOutcomes, node } = table;
  const said: RecordTable = {
    resource,
    // A report can be about any construct.
    at: table as unknown as Resource,
    path: node.path,
    keys: names,
    ttlAttribute: names.ttlAttribute ?? ATTRIBUTES.expiresAt,
    hasKey: encryptionKey !== undefined,
    hasOutbox,
    listsUnknownOutcomes,
  };
  return reported(table, (report) => find(ResolvedApp.of(table), said, report));
}

/** Faults for keys and an index that a relay needs and the table doesn't have. */
export function relayFaults(
  relay: IConstruct,
  { table, node }: IIdempotencyTable,
  names: TableNames,
  indexName: string | undefined,
): string[] {
  const resource = tableResource(table);
  if (!resource) return [];
  const app = ResolvedApp.of(table);
  const use: RelayUse = {
    at: relay as unknown as Resource,
    path: relay.node.path,
    table: resource,
    tablePath: node.path,
  };
  return reported(relay, (report) => {
    findRelayKeys(app, use, names, report);
    findRelayIndex(app, use, indexName, report);
  });
}

/** Rejects a table of the app that doesn't support transactions. */
export function checkTransactions(table: ITable): void {
  walkOnce(table);
  table.node.addValidation({
    validate: () => {
      const app = ResolvedApp.of(table);
      const resource = app.targetIn(app.resolve(table.tableArn, table), ...TABLES);
      if (!resource || app.propertiesOf(resource).MultiRegionConsistency !== "STRONG") return [];
      return [
        `multiRegionConsistency of ${ownerPath(resource)} is STRONG: such a table doesn't support transactions, so nothing can be committed to it`,
      ];
    },
  });
}
