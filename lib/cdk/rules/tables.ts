// The rules about tables of records, as their templates say them: what was said of them must hold.
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

/** The names in a table of an app's own. */
export interface TableKeys {
  readonly partitionKey?: string | undefined;
  readonly sortKey?: { readonly name: string } | undefined;
}

/** What is said of a table: by its construct, or by the functions that use it. */
export interface RecordTable {
  /** The table, in which everything is looked up. */
  readonly resource: Resource;
  /** What reports about the table are attached to: the construct of an import, or the table itself. */
  readonly at: Resource;
  /** As its user knows it. */
  readonly path: string;
  /** Undefined if nothing is said, as is `ttlAttribute`. */
  readonly keys: TableKeys | undefined;
  readonly ttlAttribute: string | undefined;
  /** Whether grants include the use of a customer key. */
  readonly hasKey: boolean;
  readonly hasOutbox: boolean;
  readonly listsUnknownOutcomes: boolean;
}

/** What a function or a relay would learn from its first request, or never. */
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
      `${uses} has the key ${keys}, and ${path} is said to have ${given}: every request would be refused. Give it, and the stores of its functions, the same partitionKey and sortKey`,
    );
  }
  if (hasCustomerKey(resource, properties) && !table.hasKey) {
    refuse(
      "table-customer-key",
      `${uses} is encrypted by a customer managed key, and ${path} knows of none, so that no grant includes its use: every request would be refused. Give it the encryptionKey`,
    );
  }
  if (properties.MultiRegionConsistency === "STRONG") {
    refuse(
      "strong-consistency",
      `multiRegionConsistency of ${uses} is STRONG: such a table has no TTL and no transactions, so that nothing expires and nothing can be committed. Use a table of its own for records`,
    );
  }
  findDestroyedKey(app, resource, report);
  if (ownerPath(resource) === path) {
    for (const text of nameFaults(app, resource, "TableName", TABLES)) refuse("one-name", text);
  }
  findStream(table, properties, refuse);
  findIndexes(table, properties, refuse);
  findExpiry(table, properties, report);
}

export function protectionFaults(path: string, isProtected: boolean, isDestroyed: boolean): string[] {
  if (!isProtected || !isDestroyed) return [];
  return [
    `deletionProtection of ${path} is true and its removalPolicy is destroy, so deleting the stack would fail: drop one of the two`,
  ];
}

/** A table whose stack can't be deleted. */
export function findProtection(app: App, resource: Resource, report: Report): void {
  const { DeletionProtectionEnabled, Replicas } = app.propertiesOf(resource);
  const own = Array.isArray(Replicas) ? objectIn(Replicas.at(-1)).DeletionProtectionEnabled : undefined;
  const isProtected = `${own ?? DeletionProtectionEnabled}` === "true";
  const isDestroyed = !/^(Retain|Snapshot)/.test(`${app.definitionOf(resource).DeletionPolicy}`);
  const texts = protectionFaults(ownerPath(resource), isProtected, isDestroyed);
  for (const text of texts) report("refused", "table-protection", resource, text);
}

/** Whether a table has what only a table of records has. */
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
      `${uses} has 0 streams, and a relay reads messages from one: nothing would be sent. Switch one on, of NEW_IMAGE`,
    );
    return;
  }
  const view = valueIn(objectIn(StreamSpecification), "StreamViewType");
  if (typeof view !== "string" || view.startsWith("NEW_")) return;
  refuse(
    "outbox-stream",
    `the stream of ${uses} has the view ${view}, and a relay reads messages from new images: nothing would be sent. Make it NEW_IMAGE`,
  );
}

/** A lister of unsent or unknown records would learn from its first run that the index is missing. */
function findIndexes(table: RecordTable, properties: TemplateProperties, refuse: Refuse): void {
  const { unsentShard, unsentSince, unsettledShard, unsettledSince } = ATTRIBUTES;
  const { hasOutbox, listsUnknownOutcomes, path } = table;
  const uses = usesOf(table);
  const wanted = [
    // A relay says by which name it knows this one.
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
      `${path} has ${because}, which takes ${index} with the partition key ${shard} and the sort key ${since}, both numbers, and ${uses} has no such index: what waits there would never be found. Add the index, of keys only, or leave ${because} out`,
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

/** Records that stay for ever break no promise, but cost storage. A warning, since a team may want to keep them. */
function findExpiry(table: RecordTable, properties: TemplateProperties, report: Report): void {
  const { AttributeName, Enabled } = objectIn(properties.TimeToLiveSpecification);
  const { at, path, ttlAttribute } = table;
  const uses = usesOf(table);
  if (`${Enabled}` !== "true") {
    const wanted = ttlAttribute ?? ATTRIBUTES.expiresAt;
    const text = `${uses} has no timeToLiveAttribute, so that no record is ever deleted: set it to "${wanted}"`;
    report("warned", "no-expiry", at, text);
    return;
  }
  if (ttlAttribute === undefined || AttributeName === ttlAttribute) return;
  report(
    "refused",
    "ttl-attribute",
    at,
    `${uses} deletes by the attribute "${String(AttributeName)}", and ${path} is said to have "${ttlAttribute}": no record would be deleted. Give it, and the stores of its functions, the same ttlAttribute`,
  );
}

/** A warning, since each key may be used in one region only. */
export function findReplicas(app: App, table: RecordTable, report: Report): void {
  const { resource, at } = table;
  const { Replicas: replicas, GlobalTableSourceArn, ImportSourceSpecification } = app.propertiesOf(resource);
  const uses = usesOf(table);
  if (ImportSourceSpecification !== undefined) {
    report(
      "warned",
      "imported-items",
      at,
      `${uses} is filled from S3: an item that looks like a record counts as one, so that its operation doesn't run. Import records of this table only, and acknowledge this`,
    );
  }
  if (GlobalTableSourceArn !== undefined) {
    report(
      "warned",
      "replicated-table",
      at,
      `${uses} is a replica of a table in another account, and each decides claims by itself, so that two can win the same key: use each key with one of them only, and acknowledge this, or use a table without replicas`,
    );
  }
  if (!Array.isArray(replicas) || replicas.length < 2) return;
  report(
    "warned",
    "replicated-table",
    at,
    `${uses} is in ${replicas.length} regions, each of which decides claims by itself, so that ${replicas.length} can win the same key: use each key in one region only, and acknowledge this, or use a table without replicas`,
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

/** A relay, or a function of an app's own that sends. */
export interface RelayUse {
  readonly at: Resource;
  readonly path: string;
  /** The table that it sends from, if that is in the app, and as its user knows it. */
  readonly table: Resource;
  readonly tablePath: string;
}

/** The keys that a relay would look for in vain, where the table is of the same app. */
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
    `${ownerPath(table)}, which ${path} sends from, has the key ${keys}, and ${path} looks for ${looked}: nothing would be sent. Give it the partitionKey and the sortKey that the stores are given`,
  );
}

/** The index that a sweeper would ask for in vain, where the table is of the same app. */
export function findRelayIndex(
  app: App,
  { at, path, table, tablePath }: RelayUse,
  indexName: string = OUTBOX_INDEX,
  report: Report,
): void {
  const properties = app.propertiesOf(table);
  const keys = asWords(ATTRIBUTES.unsentShard, ATTRIBUTES.unsentSince);
  // Without any such index the table says so itself.
  if (hasIndex(properties, keys, indexName) || !hasIndex(properties, keys)) return;
  report(
    "refused",
    "relay-index",
    at,
    `the sweeper of ${path} asks for the index "${indexName}" of ${tablePath}, whose index of unsent messages has another name: nothing that a stream lost would be sent. Give ${path}, and the stores, its indexName`,
  );
}
