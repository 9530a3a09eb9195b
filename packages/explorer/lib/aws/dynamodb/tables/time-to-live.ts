/** UpdateTimeToLive, DescribeTimeToLive, and the deletion of expired items. */
import { invalid } from "../dynamodb-error.ts";
import type { DynamoDBService } from "../dynamodb-service.ts";
import type { DynamoDBHandler } from "../handler.ts";
import type { Item } from "../values/attribute-value.ts";
import { commitWrite } from "../writes/commit-write.ts";
import { expiryOf } from "./expiry.ts";
import type { Table } from "./table.ts";

/**
 * DynamoDB ignores older expiry times as mistakes.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/howitworks-ttl.html
 */
const MAX_AGE_SECONDS = 5 * 365 * 86_400;

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-streams.html */
const TTL_SERVICE = { PrincipalId: "dynamodb.amazonaws.com", Type: "Service" } as const;

export const updateTimeToLive: DynamoDBHandler<"UpdateTimeToLive"> = (service, input) => {
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
  // The next deletion looks through the items that are there already.
  table.soonestExpiry = Enabled ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return { TimeToLiveSpecification: { AttributeName, Enabled } };
};

export const describeTimeToLive: DynamoDBHandler<"DescribeTimeToLive"> = (service, { TableName }) => {
  const { ttlAttribute } = service.table(TableName);
  return {
    TimeToLiveDescription:
      ttlAttribute === undefined
        ? { TimeToLiveStatus: "DISABLED" }
        : { TimeToLiveStatus: "ENABLED", AttributeName: ttlAttribute },
  };
};

/** Deletes what expired at least `lagSeconds` ago, in the order of expiry. Returns the number of deleted items. */
export function deleteExpired(service: DynamoDBService, lagSeconds: number): number {
  const nowSeconds = service.now() / 1000;
  let deleted = 0;
  for (const table of service.tables.values()) {
    if (table.soonestExpiry > nowSeconds - lagSeconds) continue;
    const expiring = expiringItems(table, nowSeconds - MAX_AGE_SECONDS);
    const isOver = expiring.filter(({ expiresAt }) => expiresAt <= nowSeconds - lagSeconds);
    for (const { item } of isOver) commitWrite(service, table, table.keyOf(item), undefined, TTL_SERVICE);
    table.soonestExpiry = expiring[isOver.length]?.expiresAt ?? Number.POSITIVE_INFINITY;
    deleted += isOver.length;
  }
  return deleted;
}

/** The earliest expiry comes first. */
function expiringItems(
  table: Table,
  earliest: number,
): { readonly item: Item; readonly expiresAt: number }[] {
  return [...table.items.all()]
    .map((item) => ({ item, expiresAt: expiryOf(table, item) }))
    .filter(({ expiresAt }) => Number.isFinite(expiresAt) && expiresAt >= earliest)
    .sort((first, second) => first.expiresAt - second.expiresAt);
}
