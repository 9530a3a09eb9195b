// Rejects a second relay on the stream of a table, and warns about a table that has none. No I/O.
import { CfnResource, Stack, Stage, Token } from "aws-cdk-lib";
import type { ITableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import { Construct, type IConstruct } from "constructs";
import type { IIdempotencyTable } from "../idempotency-table-interface.ts";
import { type Resource, TABLES } from "../rules/app.ts";
import { findNoRelay, findSecondRelay } from "../rules/relays.ts";
import { sharedRegistry } from "../shared-registry.ts";
import { referencedBy } from "./references.ts";
import { reported } from "./report.ts";
import { constructOf, ResolvedApp } from "./resolved-app.ts";
import { tableResource } from "./table-resources.ts";

interface Relay {
  readonly relay: IConstruct;
  readonly table: IIdempotencyTable;
}

/** For each app, its relays. */
const relays = sharedRegistry<Relay[]>("relays");

/** @throws Error for the second relay of a table in one app, even if the app imports the table several times */
export function checkOnlyRelay(relay: IConstruct, table: IIdempotencyTable): void {
  const ofApp = relays.get(relay.node.root) ?? [];
  relays.set(relay.node.root, ofApp);
  const identity = tableIdentity(table.table);
  const other = ofApp.find((each) => tableIdentity(each.table.table) === identity);
  if (other) throw new Error(secondRelay(relay, other.relay, table));
  ofApp.push({ relay, table });
}

/** Needed because a table imported by its name can only be matched at synthesis. */
export function secondRelayFaults(relay: IConstruct, table: IIdempotencyTable): string[] {
  const resource = tableResource(table.table);
  const ofApp = relays.get(relay.node.root) ?? [];
  const before = ofApp.slice(
    0,
    ofApp.findIndex((each) => each.relay === relay),
  );
  const other = resource && before.find((each) => tableResource(each.table.table) === resource);
  return other ? [secondRelay(relay, other.relay, table)] : [];
}

const secondRelay = (relay: IConstruct, other: IConstruct, table: IConstruct) =>
  `${relay.node.path} and ${other.node.path} both send from ${table.node.path}: each would send every message, and a stream supports at most two readers. Keep one of them, and give it all the destinations`;

/** The same value for all imports of a table: its resource in the app, else its name and place. */
export function tableIdentity(table: ITableV2): unknown {
  const { tableName } = table;
  const { account, region } = Stack.of(table);
  const resource = referencedBy(tableName, table).find(
    (each) => CfnResource.isCfnResource(each) && TABLES.includes(each.cfnResourceType),
  );
  if (resource) return resource;
  if (Token.isUnresolved(tableName)) return table;
  // Stages without an `env` may be deployed to different accounts.
  const stage = Token.isUnresolved(`${account}${region}`) ? Stage.of(table)?.node.path : undefined;
  return JSON.stringify([stage, account, region, tableName]);
}

/** For each app, the tables whose messages an `OutboxRelay` or one of the app's own functions may send. */
const sent = sharedRegistry<Set<ITableV2>>("sent");

export function noteSender({ node, table }: IIdempotencyTable): void {
  const ofApp = sent.get(node.root) ?? new Set<ITableV2>();
  sent.set(node.root, ofApp);
  ofApp.add(table);
}

/** Warns on the function that commits. Only a warning, because the relay of a table may be in another app. */
export function warnOfNoRelay(fn: IConstruct, table: IIdempotencyTable): void {
  fn.node.addValidation({
    validate: () => {
      const resource = tableResource(table.table);
      const senders = [...(sent.get(table.node.root) ?? [])];
      // A table of another app has its relay there, and a restored table must not have one for a while.
      const isOwn = resource && !table.restoredAt;
      if (isOwn && !senders.some((each) => tableResource(each) === resource)) {
        return reported(fn, (report) =>
          findNoRelay(fn.node.defaultChild as CfnResource, table.node.path, report),
        );
      }
      return [];
    },
  });
}

/** For each app, the resources of the functions that may relay. */
const granted = sharedRegistry<Set<IConstruct>>("granted");

/** Warns on a function with a relay's permissions if its table has a mapping to another such function, or two to this one. */
export function warnOfSecondRelay({ node, table }: IIdempotencyTable, grantee: IGrantable): void {
  const fn = Construct.isConstruct(grantee) ? grantee.node.defaultChild : undefined;
  if (fn === undefined) return;
  const ofApp = granted.get(node.root) ?? new Set();
  granted.set(node.root, ofApp);
  if (ofApp.has(fn)) return;
  ofApp.add(fn);
  fn.node.addValidation({
    validate: () => {
      const resource = tableResource(table);
      if (!resource) return [];
      const isRelay = (each: Resource) => ofApp.has(constructOf(each));
      const sent = { resource, path: table.node.path };
      return reported(fn, (report) =>
        findSecondRelay(ResolvedApp.of(fn), fn as CfnResource, sent, isRelay, report),
      );
    },
  });
}
