// Looks at imported tables that are made in the same app: what was said of them must hold. No I/O.
import { Annotations, Stack } from "aws-cdk-lib";
import { CfnGlobalTable, CfnTable } from "aws-cdk-lib/aws-dynamodb";
import type { IConstruct } from "constructs";
import { ATTRIBUTES, OUTBOX_INDEX, UNSETTLED_INDEX } from "../../contract.ts";
import type { IIdempotencyTable, TableNames } from "../idempotency-table-base.ts";
import type { IdempotencyTableAttributes } from "../idempotency-table-props.ts";
import { ownerPath, referencedResource } from "./event-sources.ts";

type TableResource = CfnGlobalTable | CfnTable;

function resourceOf(named: string | undefined, scope: IConstruct): TableResource | undefined {
  return referencedResource(named, scope, CfnGlobalTable) ?? referencedResource(named, scope, CfnTable);
}

/** What a function or a relay would learn from its first request, or never. */
export function importFaults(
  imported: IIdempotencyTable,
  { tableName, tableArn, tableStreamArn, encryptionKey }: IdempotencyTableAttributes,
): string[] {
  const resource = resourceOf(tableName ?? tableArn, imported);
  if (!resource) return [];
  const { path } = imported.node;
  const uses = `${ownerPath(resource)}, which ${path} uses,`;
  const resolved = <Value>(value: unknown): Value | undefined => Stack.of(resource).resolve(value);
  const faults: string[] = [];
  const keys = keysOf(resource);
  const given = namesIn(imported.names);
  if (keys !== undefined && keys !== given) {
    faults.push(
      `${uses} has the key ${keys}, and ${path} is said to have ${given}: every request would be refused. Give it, and the stores of its functions, the same partitionKey and sortKey`,
    );
  }
  const key = keyIn(resource);
  if (key && !encryptionKey) {
    faults.push(
      `${uses} is encrypted by a customer managed key, and ${path} knows of none, so that no grant includes its use: every request would be refused. Give it the encryptionKey`,
    );
  }
  const view = resolved<{ streamViewType?: string }>(resource.streamSpecification)?.streamViewType;
  if (tableStreamArn !== undefined && view !== undefined && !view.startsWith("NEW_")) {
    faults.push(
      `the stream of ${uses} has the view ${view}, and a relay reads messages from new images: nothing would be sent. Make it NEW_IMAGE`,
    );
  }
  return [...faults, ...indexFaults(imported, resource, uses), ...expiryFaults(imported, resource, uses)];
}

/** A sweeper or reconciler would learn from its first run that there is no such index. */
function indexFaults(imported: IIdempotencyTable, resource: TableResource, uses: string): string[] {
  const { unsentShard, unsentSince, unsettledShard, unsettledSince } = ATTRIBUTES;
  const { hasOutbox, listsUnknownOutcomes, node } = imported;
  const wanted = [
    // A relay says by which name it knows this one.
    ...(hasOutbox ? [["tableStreamArn", undefined, unsentShard, unsentSince] as const] : []),
    ...(listsUnknownOutcomes
      ? [["unknownOutcomes", UNSETTLED_INDEX, unsettledShard, unsettledSince] as const]
      : []),
  ];
  return wanted.flatMap(([because, name, shard, since]) => {
    if (hasIndex(resource, asWords(shard, since), name)) return [];
    const index = name === undefined ? "an index" : `the index "${name}"`;
    return [
      `${node.path} has ${because}, which takes ${index} with the partition key ${shard} and the sort key ${since}, both numbers, and ${uses} has no such index: what waits there would never be found. Add the index, of keys only, or leave ${because} out`,
    ];
  });
}

function hasIndex(resource: TableResource, keys: string, name?: string): boolean {
  const indexes: unknown = Stack.of(resource).resolve(resource.globalSecondaryIndexes) ?? [];
  return (
    !Array.isArray(indexes) ||
    indexes.some(
      ({ indexName, keySchema }) => (name ?? indexName) === indexName && keysIn(keySchema) === keys,
    )
  );
}

/** Records that stay for ever break no promise and cost storage. That is a warning, since somebody may want them. */
function expiryFaults(imported: IIdempotencyTable, resource: TableResource, uses: string): string[] {
  const ttl = Stack.of(resource).resolve(resource.timeToLiveSpecification);
  const { ttlAttribute = ATTRIBUTES.expiresAt } = imported.names;
  if (ttl?.enabled !== true) {
    Annotations.of(imported).addWarningV2(
      "onceonly:no-expiry",
      `${uses} has no timeToLiveAttribute, so that no record is ever deleted: set it to "${ttlAttribute}"`,
    );
    return [];
  }
  if (ttl.attributeName === ttlAttribute) return [];
  return [
    `${uses} deletes by the attribute "${ttl.attributeName}", and ${imported.node.path} is said to have "${ttlAttribute}": no record would be deleted. Give it, and the stores of its functions, the same ttlAttribute`,
  ];
}

/** A replica has a key of its own. */
function keyIn(resource: TableResource): unknown {
  const stack = Stack.of(resource);
  const isOn = (specification?: { sseEnabled?: boolean; kmsMasterKeyId?: unknown }) =>
    specification?.sseEnabled !== false && specification?.kmsMasterKeyId;
  if ("replicas" in resource) {
    const replicas: readonly { sseSpecification?: object }[] = stack.resolve(resource.replicas) ?? [];
    return replicas.some(({ sseSpecification }) => isOn(sseSpecification));
  }
  return isOn(stack.resolve((resource as CfnTable).sseSpecification));
}

/** The names of the key of a table that is made in this app, as words; `undefined` where they are not known. */
function keysOf(resource: TableResource): string | undefined {
  return keysIn(Stack.of(resource).resolve(resource.keySchema));
}

function keysIn(schema: unknown): string | undefined {
  if (!Array.isArray(schema)) return undefined;
  const keys = schema as readonly { attributeName: string; keyType: string }[];
  const nameOf = (type: string) => keys.find(({ keyType }) => keyType === type)?.attributeName;
  return asWords(nameOf("HASH") ?? "", nameOf("RANGE"));
}

const asWords = (hash: string, range: string | undefined) =>
  range === undefined ? hash : `${hash} and the sort key ${range}`;

function namesIn({ partitionKey = ATTRIBUTES.partitionKey, sortKey }: TableNames): string {
  return asWords(partitionKey, sortKey?.name);
}

/** The keys that a relay would look for in vain, where the table is of the same app. */
export function keyFaults(relay: IConstruct, { table }: IIdempotencyTable, names: TableNames): string[] {
  const resource = resourceOf(table.tableName, table);
  const keys = resource && keysOf(resource);
  const looked = namesIn(names);
  if (!resource || keys === undefined || keys === looked) return [];
  return [
    `${ownerPath(resource)}, which ${relay.node.path} sends from, has the key ${keys}, and ${relay.node.path} looks for ${looked}: nothing would be sent. Give it the partitionKey and the sortKey that the stores are given`,
  ];
}

/** The index that a sweeper would ask for in vain, where the table is of the same app. */
export function relayIndexFaults(
  relay: IConstruct,
  { table, node }: IIdempotencyTable,
  indexName: string = OUTBOX_INDEX,
): string[] {
  const resource = resourceOf(table.tableName, table);
  const keys = asWords(ATTRIBUTES.unsentShard, ATTRIBUTES.unsentSince);
  // Without any such index the table says so itself.
  if (!resource || hasIndex(resource, keys, indexName) || !hasIndex(resource, keys)) return [];
  return [
    `the sweeper of ${relay.node.path} asks for the index "${indexName}" of ${node.path}, whose index of unsent messages has another name: nothing that a stream lost would be sent. Give ${relay.node.path}, and the stores, its indexName`,
  ];
}
