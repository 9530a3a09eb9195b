/** UpdateTimeToLive and DescribeTimeToLive, and the deletion of what has expired. */
import { invalid } from "../dynamodb-error.ts";
import type { DynamoDBService } from "../dynamodb-service.ts";
import type { Handler } from "../handler.ts";
import { attributeOf, type Item } from "../values/attribute-value.ts";
import { commitWrite } from "../writes/commit-write.ts";
import type { Table } from "./table.ts";

/** Older expirations are taken for mistakes. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/howitworks-ttl.html */
const MAX_AGE_SECONDS = 5 * 365 * 86_400;

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-streams.html */
const TTL_SERVICE = { PrincipalId: "dynamodb.amazonaws.com", Type: "Service" } as const;

export const updateTimeToLive: Handler<"UpdateTimeToLive"> = (service, input) => {
  const { AttributeName, Enabled } = input.TimeToLiveSpecification;
  if (typeof AttributeName !== "string" || AttributeName === "" || typeof Enabled !== "boolean") {
    throw invalid("TimeToLiveSpecification must have an AttributeName and say whether it is Enabled");
  }
  const table = service.table(input.TableName);
  if (Enabled === (table.ttlAttribute !== undefined)) {
    throw invalid(`TimeToLive is already ${Enabled ? "enabled" : "disabled"}`);
  }
  if (!Enabled && table.ttlAttribute !== AttributeName) {
    throw invalid("TimeToLive is active on a different AttributeName");
  }
  table.ttlAttribute = Enabled ? AttributeName : undefined;
  return { TimeToLiveSpecification: { AttributeName, Enabled } };
};

export const describeTimeToLive: Handler<"DescribeTimeToLive"> = (service, { TableName }) => {
  const { ttlAttribute } = service.table(TableName);
  return {
    TimeToLiveDescription:
      ttlAttribute === undefined
        ? { TimeToLiveStatus: "DISABLED" }
        : { TimeToLiveStatus: "ENABLED", AttributeName: ttlAttribute },
  };
};

/** Deletes what expired at least `lagSeconds` ago, in the order of expiry, and tells how much that was. */
export function deleteExpired(service: DynamoDBService, lagSeconds: number): number {
  const latest = service.now() / 1000 - lagSeconds;
  let deleted = 0;
  for (const table of service.tables.values()) {
    for (const item of expiredItems(table, latest, service.now() / 1000 - MAX_AGE_SECONDS)) {
      commitWrite(service, table, table.keyOf(item), undefined, TTL_SERVICE);
      deleted++;
    }
  }
  return deleted;
}

function expiredItems(table: Table, latest: number, earliest: number): readonly Item[] {
  const { ttlAttribute } = table;
  if (ttlAttribute === undefined) return [];
  return [...table.items.all()]
    .map((item) => ({ item, expiresAt: expiryOf(item, ttlAttribute) }))
    .filter(({ expiresAt }) => expiresAt <= latest && expiresAt >= earliest)
    .sort((first, second) => first.expiresAt - second.expiresAt)
    .map(({ item }) => item);
}

/** In epoch seconds; NaN for an item that never expires. */
function expiryOf(item: Item, ttlAttribute: string): number {
  const value = attributeOf(item, ttlAttribute);
  return value !== undefined && "N" in value ? Number(value.N) : Number.NaN;
}
