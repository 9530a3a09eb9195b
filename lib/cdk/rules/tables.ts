// Rules for tables of records: the table in the template must match what the app declares about it.
import { ATTRIBUTES, OUTBOX_INDEX, UNSETTLED_INDEX } from "../../contract.ts";
import {
  type App,
  objectIn,
  ownerPath,
  type Report,
  type Resource,
  TABLES,
  type TemplateProperties,
  valueIn,
} from "./app.ts";
import { findDestroyedKey, hasCustomerKey } from "./encryption-keys.ts";
import { nameFaults } from "./names.ts";

/** The key names of a table that the app defines itself. */
export interface TableKeys {
  readonly partitionKey?: string | undefined;
  readonly sortKey?: { readonly name: string } | undefined;
}

/** What the app declares about a table: in its construct, or in the functions that use it. */
export interface RecordTable {
  /** The table itself. */
  readonly resource: Resource;
  /** Reports are attached to this: the construct of an import, or the table itself. */
  readonly at: Resource;
  /** The path that users know. */
  readonly path: string;
  /** Undefined if not declared, like `ttlAttribute`. */
  readonly keys: TableKeys | undefined;
  readonly ttlAttribute: string | undefined;
  /** Whether grants include the use of a customer managed key. */
  readonly hasKey: boolean;
  readonly hasOutbox: boolean;
  readonly listsUnknownOutcomes: boolean;
}

/** Faults that would otherwise only show in the first request of a function or a relay, or never. */
export function findInTable(app: App, table: RecordTable, report: Report): void {
  const { resource, at, path } = table;
  const properties = app.propertiesOf(resource);
  const uses = usesOf(table);
  const refuse = (rule: string, text: string) => report("refused", rule, at, text);
  const keys = keysIn(properties.KeySchema);
  const given = table.keys && namesIn(table.keys);
  if (keys !== undefined && given !== undefined && keys !== given) {
    refuse(
      "table-keys",
      `${uses} has the key ${keys}, but ${path} is declared with ${given}: every request would be refused. Give it, and the stores of its functions, the same partitionKey and sortKey`,
    );
  }
  if (hasCustomerKey(resource, properties) && !table.hasKey) {
    refuse(
      "table-customer-key",
      `${uses} is encrypted with a customer managed key, but ${path} doesn't know it, so no grant includes it: every request would be refused. Pass it as encryptionKey`,
    );
  }
  if (properties.MultiRegionConsistency === "STRONG") {
    refuse(
      "strong-consistency",
      `multiRegionConsistency of ${uses} is STRONG: such a table has no TTL and no transactions, so nothing expires and nothing can be committed. Use a separate table for records`,
    );
  }
  findDestroyedKey(app, resource, report);
  if (ownerPath(resource) === path) {
    for (const text of nameFaults(app, resource, "TableName", TABLES)) refuse("one-name", text);
  }
  findStream(table, properties, refuse);
  findIndexes(table, properties, refuse);
  findExpiry(table, properties, report);
  findForeignReplicas(app, table, report);
}

export function protectionFaults(path: string, isProtected: boolean, isDestroyed: boolean): string[] {
  if (!isProtected || !isDestroyed) return [];
  return [
    `deletionProtection of ${path} is true and its removalPolicy is destroy, so deleting the stack would fail: remove one of the two`,
  ];
}

/** Reports a table whose stack can't be deleted. */
export function findProtection(app: App, resource: Resource, report: Report): void {
  const { DeletionProtectionEnabled, Replicas } = app.propertiesOf(resource);
  const own = Array.isArray(Replicas) ? objectIn(Replicas.at(-1)).DeletionProtectionEnabled : undefined;
  const isProtected = `${own ?? DeletionProtectionEnabled}` === "true";
  const isDestroyed = !/^(Retain|Snapshot)/.test(`${app.definitionOf(resource).DeletionPolicy}`);
  const texts = protectionFaults(ownerPath(resource), isProtected, isDestroyed);
  for (const text of texts) report("refused", "table-protection", resource, text);
}

/** Whether a table has features that only a table of records has. */
export function looksLikeRecords(app: App, resource: Resource): boolean {
  const properties = app.propertiesOf(resource);
  const { AttributeName } = objectIn(properties.TimeToLiveSpecification);
  const isOwn =
    keysIn(properties.KeySchema) === ATTRIBUTES.partitionKey && AttributeName === ATTRIBUTES.expiresAt;
  const hasOutbox = hasIndex(properties, asWords(ATTRIBUTES.unsentShard, ATTRIBUTES.unsentSince));
  return isOwn || (properties.GlobalSecondaryIndexes !== undefined && hasOutbox);
}

const usesOf = ({ resource, path }: RecordTable) =>
  ownerPath(resource) === path ? path : `${ownerPath(resource)}, which ${path} uses,`;

type Refuse = (rule: string, text: string) => void;

function findStream(table: RecordTable, { StreamSpecification }: TemplateProperties, refuse: Refuse): void {
  if (!table.hasOutbox) return;
  const uses = usesOf(table);
  if (StreamSpecification === undefined) {
    refuse(
      "outbox-stream",
      `${uses} has no stream, but a relay reads messages from one: nothing would be sent. Enable one with the view NEW_IMAGE`,
    );
    return;
  }
  const view = valueIn(objectIn(StreamSpecification), "StreamViewType");
  if (typeof view !== "string" || view.startsWith("NEW_")) return;
  refuse(
    "outbox-stream",
    `the stream of ${uses} has the view ${view}, but a relay reads messages from new images: nothing would be sent. Use NEW_IMAGE`,
  );
}

/** Without this check, a sweeper or reconciler would only find out in its first run that its index is missing. */
function findIndexes(table: RecordTable, properties: TemplateProperties, refuse: Refuse): void {
  const { unsentShard, unsentSince, unsettledShard, unsettledSince } = ATTRIBUTES;
  const { hasOutbox, listsUnknownOutcomes, path } = table;
  const uses = usesOf(table);
  const wanted = [
    // The relay sets the name of this index.
    ...(hasOutbox ? [["tableStreamArn", undefined, unsentShard, unsentSince] as const] : []),
    ...(listsUnknownOutcomes
      ? [["unknownOutcomes", UNSETTLED_INDEX, unsettledShard, unsettledSince] as const]
      : []),
  ];
  for (const [because, name, shard, since] of wanted) {
    if (hasIndex(properties, asWords(shard, since), name)) continue;
    const index = name === undefined ? "an index" : `the index "${name}"`;
    refuse(
      "table-index",
      `${path} has ${because}, which requires ${index} with the partition key ${shard} and the sort key ${since}, both numbers, but ${uses} has no such index: waiting records would never be found. Add the index (KEYS_ONLY), or leave ${because} out`,
    );
  }
}

function hasIndex({ GlobalSecondaryIndexes = [] }: TemplateProperties, keys: string, name?: string): boolean {
  return (
    !Array.isArray(GlobalSecondaryIndexes) ||
    GlobalSecondaryIndexes.some(
      ({ IndexName, KeySchema }) => (name ?? IndexName) === IndexName && keysIn(KeySchema) === keys,
    )
  );
}

/** Records that never expire break no guarantee, but cost storage. Only a warning, because a team may want to keep them. */
function findExpiry(table: RecordTable, properties: TemplateProperties, report: Report): void {
  const { AttributeName, Enabled } = objectIn(properties.TimeToLiveSpecification);
  const { at, path, ttlAttribute } = table;
  const uses = usesOf(table);
  if (`${Enabled}` !== "true") {
    const wanted = ttlAttribute ?? ATTRIBUTES.expiresAt;
    const text = `${uses} has no timeToLiveAttribute, so records are never deleted: set it to "${wanted}"`;
    report("warned", "no-expiry", at, text);
    return;
  }
  if (ttlAttribute === undefined || AttributeName === ttlAttribute) return;
  report(
    "refused",
    "ttl-attribute",
    at,
    `${uses} expires items by the attribute "${String(AttributeName)}", but ${path} is declared with "${ttlAttribute}": no record would be deleted. Give it, and the stores of its functions, the same ttlAttribute`,
  );
}

/** Only a warning, because each key may be used in just one region. */
export function findReplicas(app: App, table: RecordTable, report: Report): void {
  const { resource, at } = table;
  const { Replicas: replicas, ImportSourceSpecification } = app.propertiesOf(resource);
  const uses = usesOf(table);
  if (ImportSourceSpecification !== undefined) {
    report(
      "warned",
      "imported-items",
      at,
      `${uses} is imported from S3: an item that looks like a record counts as one, so its operation doesn't run. Import only records of this table, and acknowledge this`,
    );
  }
  if (!Array.isArray(replicas) || replicas.length < 2) return;
  report(
    "warned",
    "replicated-table",
    at,
    `${uses} is in ${replicas.length} regions, and each decides claims on its own, so ${replicas.length} callers can win the same key: use each key in only one region and acknowledge this, or use a table without replicas`,
  );
}

/** A global table of several accounts is declared once in each, so neither template shows all of its replicas. */
function findForeignReplicas(app: App, table: RecordTable, report: Report): void {
  const { resource, at } = table;
  const { GlobalTableSourceArn, ...own } = app.propertiesOf(resource);
  const isReplica = GlobalTableSourceArn !== undefined;
  if (!isReplica && !/dynamodb:AssociateTableReplica/.test(JSON.stringify(own))) return;
  report(
    "warned",
    "replicated-table",
    at,
    `${usesOf(table)} ${isReplica ? "is a replica of a table" : "lets a table be its replica"} in another account, and each decides claims on its own, so two callers can win the same key: use each key with only one of them and acknowledge this, or use a table without replicas`,
  );
}

function keysIn(schema: unknown): string | undefined {
  if (!Array.isArray(schema)) return undefined;
  const keys = schema as readonly { AttributeName: string; KeyType: string }[];
  const nameOf = (type: string) => keys.find(({ KeyType }) => KeyType === type)?.AttributeName;
  return asWords(nameOf("HASH") ?? "", nameOf("RANGE"));
}

const asWords = (hash: string, range: string | undefined) =>
  range === undefined ? hash : `${hash} and the sort key ${range}`;

function namesIn({ partitionKey = ATTRIBUTES.partitionKey, sortKey }: TableKeys): string {
  return asWords(partitionKey, sortKey?.name);
}

/** A relay, or one of the app's own functions that sends. */
export interface RelayUse {
  readonly at: Resource;
  readonly path: string;
  /** The table that it sends from, if the app defines it; `tablePath` is the path that users know. */
  readonly table: Resource;
  readonly tablePath: string;
}

/** Reports keys that a relay uses and its table doesn't have, if the app defines the table. */
export function findRelayKeys(
  app: App,
  { at, path, table }: RelayUse,
  names: TableKeys,
  report: Report,
): void {
  const keys = keysIn(app.propertiesOf(table).KeySchema);
  const looked = namesIn(names);
  if (keys === undefined || keys === looked) return;
  report(
    "refused",
    "relay-keys",
    at,
    `${ownerPath(table)}, which ${path} sends from, has the key ${keys}, but ${path} looks for ${looked}: nothing would be sent. Give it the partitionKey and sortKey that the stores use`,
  );
}

/** Reports an index that a sweeper queries and its table doesn't have, if the app defines the table. */
export function findRelayIndex(
  app: App,
  { at, path, table, tablePath }: RelayUse,
  indexName: string = OUTBOX_INDEX,
  report: Report,
): void {
  const properties = app.propertiesOf(table);
  const keys = asWords(ATTRIBUTES.unsentShard, ATTRIBUTES.unsentSince);
  // If there's no such index at all, the table's own check reports it.
  if (hasIndex(properties, keys, indexName) || !hasIndex(properties, keys)) return;
  report(
    "refused",
    "relay-index",
    at,
    `the sweeper of ${path} queries the index "${indexName}" of ${tablePath}, whose index of unsent messages has another name: messages that the stream lost would never be sent. Give ${path}, and the stores, its indexName`,
  );
}
