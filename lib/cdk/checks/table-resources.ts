// Looks at tables that are made in the same app, as their templates say them: what was said of them must hold. No I/O.
import { Annotations, type CfnResource } from "aws-cdk-lib";
import type { ITable, ITableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { IConstruct } from "constructs";
import { ATTRIBUTES, OUTBOX_INDEX, UNSETTLED_INDEX } from "../../contract.ts";
import type { IIdempotencyTable, TableNames } from "../idempotency-table-interface.ts";
import type { IdempotencyTableAttributes } from "../idempotency-table-props.ts";
import { hasCustomerKey, warnOfDestroyedKey } from "./encryption-keys.ts";
import { TABLES } from "./event-sources.ts";
import { nameFaults } from "./names.ts";
import { ownerPath, walkOnce } from "./resources.ts";
import { objectIn, ResolvedApp, type TemplateProperties, valueIn } from "./windows/resolved-app.ts";

const known = new WeakMap<ResolvedApp, Map<ITableV2, CfnResource | undefined>>();

/** The resource of a table, also where that is imported by a literal name or ARN. At synthesis only. */
export function tableResource(table: ITableV2): CfnResource | undefined {
  const app = ResolvedApp.of(table);
  const ofApp = known.get(app) ?? new Map<ITableV2, CfnResource | undefined>();
  known.set(app, ofApp);
  if (!ofApp.has(table)) ofApp.set(table, app.targetIn(app.resolve(table.tableArn, table), ...TABLES));
  return ofApp.get(table);
}

interface TableTemplate {
  readonly resource: CfnResource;
  readonly properties: TemplateProperties;
}

function templateOf(table: ITableV2): TableTemplate | undefined {
  const resource = tableResource(table);
  return resource && { resource, properties: ResolvedApp.of(table).propertiesOf(resource) };
}

/** What a function or a relay would learn from its first request, or never. */
export function tableFaults(
  table: IIdempotencyTable,
  { encryptionKey }: Pick<IdempotencyTableAttributes, "encryptionKey">,
): string[] {
  const template = templateOf(table.table);
  if (!template) return [];
  const { properties, resource } = template;
  const { path } = table.node;
  const uses = ownerPath(resource) === path ? path : `${ownerPath(resource)}, which ${path} uses,`;
  const faults: string[] = [];
  const keys = keysIn(properties.KeySchema);
  const given = namesIn(table.names);
  if (keys !== undefined && keys !== given) {
    faults.push(
      `${uses} has the key ${keys}, and ${path} is said to have ${given}: every request would be refused. Give it, and the stores of its functions, the same partitionKey and sortKey`,
    );
  }
  if (hasCustomerKey(resource, properties) && !encryptionKey) {
    faults.push(
      `${uses} is encrypted by a customer managed key, and ${path} knows of none, so that no grant includes its use: every request would be refused. Give it the encryptionKey`,
    );
  }
  if (properties.MultiRegionConsistency === "STRONG") {
    faults.push(
      `multiRegionConsistency of ${uses} is STRONG: such a table has no TTL and no transactions, so that nothing expires and nothing can be committed. Use a table of its own for records`,
    );
  }
  const app = ResolvedApp.of(table);
  const isOwn = ownerPath(resource) === path;
  warnOfDestroyedKey(app, resource);
  return [
    ...faults,
    ...(isOwn ? nameFaults(app, resource, "TableName", TABLES) : []),
    ...streamFaults(table, properties, uses),
    ...indexFaults(table, properties, uses),
    ...expiryFaults(table, properties, uses),
  ];
}

function streamFaults(
  { hasOutbox }: IIdempotencyTable,
  { StreamSpecification }: TemplateProperties,
  uses: string,
): string[] {
  if (!hasOutbox) return [];
  if (StreamSpecification === undefined) {
    return [
      `${uses} has 0 streams, and a relay reads messages from one: nothing would be sent. Switch one on, of NEW_IMAGE`,
    ];
  }
  const view = valueIn(objectIn(StreamSpecification), "StreamViewType");
  if (typeof view !== "string" || view.startsWith("NEW_")) return [];
  return [
    `the stream of ${uses} has the view ${view}, and a relay reads messages from new images: nothing would be sent. Make it NEW_IMAGE`,
  ];
}

/** A lister of unsent or unknown records would learn from its first run that the index is missing. */
function indexFaults(table: IIdempotencyTable, properties: TemplateProperties, uses: string): string[] {
  const { unsentShard, unsentSince, unsettledShard, unsettledSince } = ATTRIBUTES;
  const { hasOutbox, listsUnknownOutcomes, node } = table;
  const wanted = [
    // A relay says by which name it knows this one.
    ...(hasOutbox ? [["tableStreamArn", undefined, unsentShard, unsentSince] as const] : []),
    ...(listsUnknownOutcomes
      ? [["unknownOutcomes", UNSETTLED_INDEX, unsettledShard, unsettledSince] as const]
      : []),
  ];
  return wanted.flatMap(([because, name, shard, since]) => {
    if (hasIndex(properties, asWords(shard, since), name)) return [];
    const index = name === undefined ? "an index" : `the index "${name}"`;
    return [
      `${node.path} has ${because}, which takes ${index} with the partition key ${shard} and the sort key ${since}, both numbers, and ${uses} has no such index: what waits there would never be found. Add the index, of keys only, or leave ${because} out`,
    ];
  });
}

function hasIndex({ GlobalSecondaryIndexes = [] }: TemplateProperties, keys: string, name?: string): boolean {
  return (
    !Array.isArray(GlobalSecondaryIndexes) ||
    GlobalSecondaryIndexes.some(
      ({ IndexName, KeySchema }) => (name ?? IndexName) === IndexName && keysIn(KeySchema) === keys,
    )
  );
}

/** Records that stay for ever break no promise and cost storage. That is a warning, since somebody may want them. */
function expiryFaults(table: IIdempotencyTable, properties: TemplateProperties, uses: string): string[] {
  const { AttributeName, Enabled } = objectIn(properties.TimeToLiveSpecification);
  const { ttlAttribute = ATTRIBUTES.expiresAt } = table.names;
  if (`${Enabled}` !== "true") {
    Annotations.of(table).addWarningV2(
      "onceonly:no-expiry",
      `${uses} has no timeToLiveAttribute, so that no record is ever deleted: set it to "${ttlAttribute}"`,
    );
    return [];
  }
  if (AttributeName === ttlAttribute) return [];
  return [
    `${uses} deletes by the attribute "${String(AttributeName)}", and ${table.node.path} is said to have "${ttlAttribute}": no record would be deleted. Give it, and the stores of its functions, the same ttlAttribute`,
  ];
}

/** A warning, since each key may be used in one region only. */
export function warnOfReplicas(table: IIdempotencyTable): void {
  const template = templateOf(table.table);
  if (!template) return;
  const { Replicas: replicas, GlobalTableSourceArn, ImportSourceSpecification } = template.properties;
  if (ImportSourceSpecification !== undefined) {
    Annotations.of(table).addWarningV2(
      "onceonly:imported-items",
      `${ownerPath(template.resource)}, which ${table.node.path} uses, is filled from S3: an item that looks like a record counts as one, so that its operation doesn't run. Import records of this table only, and acknowledge this`,
    );
  }
  if (GlobalTableSourceArn !== undefined) {
    Annotations.of(table).addWarningV2(
      "onceonly:replicated-table",
      `${ownerPath(template.resource)}, which ${table.node.path} uses, is a replica of a table in another account, and each decides claims by itself, so that two can win the same key: use each key with one of them only, and acknowledge this, or use a table without replicas`,
    );
  }
  if (!Array.isArray(replicas) || replicas.length < 2) return;
  Annotations.of(table).addWarningV2(
    "onceonly:replicated-table",
    `${ownerPath(template.resource)}, which ${table.node.path} uses, is in ${replicas.length} regions, each of which decides claims by itself, so that ${replicas.length} can win the same key: use each key in one region only, and acknowledge this, or use a table without replicas`,
  );
}

/** Has a table of the app refused in whose transactions nothing can be written. */
export function checkTransactions(table: ITable): void {
  walkOnce(table);
  table.node.addValidation({
    validate: () => {
      const app = ResolvedApp.of(table);
      const resource = app.targetIn(app.resolve(table.tableArn, table), ...TABLES);
      if (!resource || app.propertiesOf(resource).MultiRegionConsistency !== "STRONG") return [];
      return [
        `multiRegionConsistency of ${ownerPath(resource)} is STRONG: such a table has no transactions, so that nothing can be committed there`,
      ];
    },
  });
}

function keysIn(schema: unknown): string | undefined {
  if (!Array.isArray(schema)) return undefined;
  const keys = schema as readonly { AttributeName: string; KeyType: string }[];
  const nameOf = (type: string) => keys.find(({ KeyType }) => KeyType === type)?.AttributeName;
  return asWords(nameOf("HASH") ?? "", nameOf("RANGE"));
}

const asWords = (hash: string, range: string | undefined) =>
  range === undefined ? hash : `${hash} and the sort key ${range}`;

function namesIn({ partitionKey = ATTRIBUTES.partitionKey, sortKey }: TableNames): string {
  return asWords(partitionKey, sortKey?.name);
}

/** The keys that a relay would look for in vain, where the table is of the same app. */
export function keyFaults(relay: IConstruct, { table }: IIdempotencyTable, names: TableNames): string[] {
  const template = templateOf(table);
  const keys = template && keysIn(template.properties.KeySchema);
  const looked = namesIn(names);
  if (!template || keys === undefined || keys === looked) return [];
  return [
    `${ownerPath(template.resource)}, which ${relay.node.path} sends from, has the key ${keys}, and ${relay.node.path} looks for ${looked}: nothing would be sent. Give it the partitionKey and the sortKey that the stores are given`,
  ];
}

/** The index that a sweeper would ask for in vain, where the table is of the same app. */
export function relayIndexFaults(
  relay: IConstruct,
  { table, node }: IIdempotencyTable,
  indexName: string = OUTBOX_INDEX,
): string[] {
  const template = templateOf(table);
  const keys = asWords(ATTRIBUTES.unsentShard, ATTRIBUTES.unsentSince);
  // Without any such index the table says so itself.
  if (!template || hasIndex(template.properties, keys, indexName) || !hasIndex(template.properties, keys))
    return [];
  return [
    `the sweeper of ${relay.node.path} asks for the index "${indexName}" of ${node.path}, whose index of unsent messages has another name: nothing that a stream lost would be sent. Give ${relay.node.path}, and the stores, its indexName`,
  ];
}
