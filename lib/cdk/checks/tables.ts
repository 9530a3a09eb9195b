// Rejects tables that couldn't keep their records' guarantees, or whose deployment would fail. No I/O.
import { RemovalPolicy, Stack, Token } from "aws-cdk-lib";
import { MultiRegionConsistency } from "aws-cdk-lib/aws-dynamodb";
import type { IConstruct } from "constructs";
import { wrongTime } from "../dates.ts";
import type { IdempotencyTableProps } from "../idempotency-table-props.ts";
import { protectionFaults } from "../rules/tables.ts";

/** @throws Error if properties of a table can't be combined */
export function checkTable(table: IConstruct, props: IdempotencyTableProps): void {
  const { path } = table.node;
  const { deletionProtection = false, removalPolicy, multiRegionConsistency, encryptionKey } = props;
  const regions = (props.replicas ?? []).map(({ region }) => region);
  const faults = protectionFaults(path, deletionProtection, removalPolicy === RemovalPolicy.DESTROY);
  if (multiRegionConsistency === MultiRegionConsistency.STRONG) {
    faults.push(
      `multiRegionConsistency of ${path} is STRONG: such a table has no TTL, so records never expire, and no transactions, so handlers can't commit. Leave it out`,
    );
  }
  if (encryptionKey && Token.isUnresolved(Stack.of(table).region)) {
    faults.push(
      `encryptionKey of ${path} is set, but a key belongs to one region and the stack has none: set the stack's env`,
    );
  }
  faults.push(...replicationFaults(path, regions, props));
  if (faults[0] !== undefined) throw new Error(faults[0]);
  checkRestoration(path, props.restoredAt);
}

const MAX_SHARDS = 1000;

/** @throws Error for a value that isn't a number of shards, or for shards of a table without an outbox */
export function checkShards(path: string, name: string, shards: number | undefined, hasOutbox = true): void {
  if (shards === undefined) return;
  if (!hasOutbox)
    throw new Error(`${name} of ${path} is ${shards}, but the table has no outbox: leave it out`);
  if (Number.isInteger(shards) && shards >= 1 && shards <= MAX_SHARDS) return;
  const given = Token.isUnresolved(shards) ? "only known at deployment" : shards;
  throw new Error(`${name} of ${path} is ${given}: use a whole number from 1 to ${MAX_SHARDS}`);
}

/** @throws Error for a value that can't be the time of a table */
export function checkRestoration(path: string, restoredAt: Date | undefined): void {
  const wrong = restoredAt === undefined ? undefined : wrongTime(restoredAt);
  if (wrong === undefined) return;
  throw new Error(
    `restoredAt of ${path} is ${wrong}: pass the time at which the restored table went into use, as a Date`,
  );
}

/** Faults of replicas in regions other than the table's own. */
export function replicationFaults(
  path: string,
  otherRegions: readonly string[],
  { keysPinnedToRegion, outbox, encryptionKey, replicaKeyArns = {} }: IdempotencyTableProps,
): string[] {
  if (otherRegions.length === 0) return [];
  const count = otherRegions.length + 1;
  const named = otherRegions.filter((region) => !Token.isUnresolved(region)).join(", ");
  const faults: string[] = [];
  if (!keysPinnedToRegion) {
    faults.push(
      `${path} would be in ${count} regions (its own, ${named}), and each region decides claims on its own, so ${count} callers can win the same key: use each key in only one region and declare that with keysPinnedToRegion, or remove the replicas`,
    );
  }
  if (outbox) {
    faults.push(
      `outbox of ${path} is on in ${count} regions (its own, ${named}): a table with replicas can't have a stream of new images only, and each of the ${count} streams would carry every message. Remove the replicas, or use one table per region`,
    );
  }
  const without = otherRegions.filter((region) => !Object.hasOwn(replicaKeyArns, region));
  if (encryptionKey && without.length > 0) {
    faults.push(
      `encryptionKey of ${path} only works in the table's own region, and replicaKeyArns has no key for ${without.join(", ")}: add one for each`,
    );
  }
  return faults;
}
