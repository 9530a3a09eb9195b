// Refuses a second relay on the stream of a table, and tells of a table that has none. No I/O.
import { Annotations, CfnResource, Stack, Token } from "aws-cdk-lib";
import { CfnGlobalTable, CfnTable, type ITableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { IConstruct } from "constructs";
import type { IIdempotencyTable } from "../idempotency-table-base.ts";
import { sharedRegistry } from "../shared-registry.ts";
import { referencedResource } from "./event-sources.ts";

/** The relay of each table of an app: by its resource or, for a table of elsewhere, by its name and place. */
const relays = sharedRegistry<Map<unknown, IConstruct>>("relays");

/** @throws Error for the second relay of a table in one app, however often the table is imported */
export function checkOnlyRelay(relay: IConstruct, table: IIdempotencyTable): void {
  const ofApp = relays.get(relay.node.root) ?? new Map<unknown, IConstruct>();
  relays.set(relay.node.root, ofApp);
  const identity = tableIdentity(table.table);
  const other = ofApp.get(identity);
  if (other === undefined) {
    ofApp.set(identity, relay);
    return;
  }
  throw new Error(
    `${relay.node.path} and ${other.node.path} both send from ${table.node.path}: each would send every message, and a stream has two readers at most. Leave one of the two, and give it all destinations`,
  );
}

/** What is the same for all imports of a table: its resource in the app, else its name and place. */
export function tableIdentity(table: ITableV2): unknown {
  const { tableName } = table;
  const { account, region } = Stack.of(table);
  const resource =
    referencedResource(tableName, table, CfnGlobalTable) ?? referencedResource(tableName, table, CfnTable);
  if (resource) return resource;
  return Token.isUnresolved(tableName) ? table : JSON.stringify([account, region, tableName]);
}

/** The tables of an app whose messages somebody has the rights to send: an `OutboxRelay`, or functions of the app's own. */
const sent = sharedRegistry<Set<unknown>>("sent");

export function noteSender({ node, table }: IIdempotencyTable): void {
  const ofApp = sent.get(node.root) ?? new Set<unknown>();
  sent.set(node.root, ofApp);
  ofApp.add(tableIdentity(table));
}

/** A warning for the function that commits, since the relay of a table may be in another app. */
export function warnOfNoRelay(fn: IConstruct, table: IIdempotencyTable): void {
  fn.node.addValidation({
    validate: () => {
      const identity = tableIdentity(table.table);
      // The relay of a table of elsewhere is there, and a restored table must have none for a while.
      const isOwn = CfnResource.isCfnResource(identity) && !table.restoredAt;
      if (isOwn && !sent.get(table.node.root)?.has(identity)) {
        Annotations.of(fn).addWarningV2(
          "onceonly:no-relay",
          `${fn.node.path} commits to ${table.node.path}, which has an outbox and no OutboxRelay in this app, so that nobody sends its messages: make one, or acknowledge this where the relay is elsewhere or no commit has messages`,
        );
      }
      return [];
    },
  });
}
