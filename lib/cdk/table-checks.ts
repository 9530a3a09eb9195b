// Refuses tables that would break the promise of the records in them, or of their own deployment. No I/O.
// It may touch aws-cdk-lib only.
import { RemovalPolicy, Token } from "aws-cdk-lib";
import { MultiRegionConsistency } from "aws-cdk-lib/aws-dynamodb";
import { ATTRIBUTES } from "../contract.ts";
import type { IdempotencyTableProps } from "./idempotency-table-props.ts";

/** @throws Error that says which of the properties of the table at `path` exclude each other */
export function checkTable(path: string, props: IdempotencyTableProps): void {
  const { removalPolicy, deletionProtection, multiRegionConsistency, restoredAt } = props;
  if (deletionProtection && removalPolicy === RemovalPolicy.DESTROY) {
    throw new Error(
      `deletionProtection of ${path} is true and its removalPolicy is destroy, so deleting the stack would fail: drop one of the two`,
    );
  }
  if (multiRegionConsistency === MultiRegionConsistency.STRONG) {
    throw new Error(
      `multiRegionConsistency of ${path} is STRONG: such a table has no TTL, so that ${ATTRIBUTES.expiresAt} deletes nothing, and no transactions, so that no commit and no take-over of one is possible: leave it out`,
    );
  }
  if (restoredAt && Number.isNaN(restoredAt.getTime())) {
    throw new Error(
      `restoredAt of ${path} is no date: give the time at which the restored table was put to use`,
    );
  }
  const regions = (props.replicas ?? []).map(({ region }) => region);
  const [fault] = replicationFaults(path, regions, props);
  if (fault !== undefined) throw new Error(fault);
}

/** What is wrong with these regions beside the table's own. */
export function replicationFaults(
  path: string,
  otherRegions: readonly string[],
  { keysPinnedToRegion, outbox }: IdempotencyTableProps,
): string[] {
  if (otherRegions.length === 0) return [];
  const count = otherRegions.length + 1;
  const named = otherRegions.filter((region) => !Token.isUnresolved(region)).join(", ");
  const faults: string[] = [];
  if (!keysPinnedToRegion) {
    faults.push(
      `${path} would be in ${count} regions (its own, ${named}), each of which decides claims by itself, so that ${count} can win the same key: use each key in one region only and say so by keysPinnedToRegion, or drop the replicas`,
    );
  }
  if (outbox) {
    faults.push(
      `outbox of ${path} is on in ${count} regions (its own, ${named}): a table with replicas cannot have a stream of new images only, and each of the ${count} streams would bring the messages of all: drop the replicas, or use a table per region`,
    );
  }
  return faults;
}
