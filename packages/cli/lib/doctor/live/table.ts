/** A table as it lives: by its descriptions, one for each Region, and its settings of TTL and backups. */
import type { TableDescription } from "@aws-sdk/client-dynamodb";
import { TYPES } from "../diagnosed-stack.ts";
import { inTime, type LiveClients } from "./clients.ts";
import { regionsOf, tableProperties } from "./descriptions.ts";
import { type LiveModel, type LivePlace, look, unseenOf } from "./model.ts";

/** Not asked of a local engine: it has no backups, and its data is thrown away. */
export interface TableLook {
  /** Why neither backups nor protection are looked at. */
  readonly withoutRecovery?: { readonly why: string; readonly remedy: string };
  readonly endpoint?: string;
}

/** @returns the ARN of its stream; `undefined` if it has none, or wasn't seen */
export async function describeTable(
  clients: LiveClients,
  model: LiveModel,
  place: LivePlace,
  { withoutRecovery, endpoint }: TableLook = {},
): Promise<string | undefined> {
  const id = model.idOf(TYPES.table, place);
  const describe = (region: string) =>
    look("dynamodb:DescribeTable", async () => {
      const dynamodb = await clients.of("dynamodb", region, endpoint);
      return (await dynamodb.describeTable({ TableName: place.name }, inTime())).Table ?? {};
    });
  const answer = await describe(place.region);
  if (answer.is !== "seen") {
    model.without(TYPES.table, id, answer);
    return undefined;
  }
  const table = answer.value;
  const properties = { ...tableProperties(table), Replicas: [] as object[] };
  model.add(TYPES.table, id, properties);
  await addTtl();
  for (const region of regionsOf(table, place.region)) properties.Replicas.push(await replica(region));
  // DynamoDB goes on naming a stream that was switched off.
  return table.StreamSpecification?.StreamEnabled ? table.LatestStreamArn : undefined;

  async function addTtl(): Promise<void> {
    const field = "TimeToLiveSpecification";
    const ttl = await look("dynamodb:DescribeTimeToLive", async () => {
      const dynamodb = await clients.of("dynamodb", place.region, endpoint);
      return (await dynamodb.describeTimeToLive({ TableName: place.name }, inTime())).TimeToLiveDescription;
    });
    if (ttl.is !== "seen") {
      if (ttl.is === "unseen") model.sight.hide(properties, field, { ...unseenOf(ttl, `TTL of ${id}`), id });
      return;
    }
    const Enabled = /^ENABL/.test(`${ttl.value?.TimeToLiveStatus}`);
    Object.assign(properties, { [field]: { Enabled, AttributeName: ttl.value?.AttributeName } });
  }

  async function replica(region: string): Promise<object> {
    const own = {};
    const what = `of ${id} in ${region}`;
    if (withoutRecovery) {
      const unseen = { what: `recovery and protection ${what}`, ...withoutRecovery, id, isNowhere: true };
      model.sight.hide(own, "DeletionProtectionEnabled", unseen);
      model.sight.hide(own, "PointInTimeRecoverySpecification", unseen);
      return own;
    }
    const described = region === place.region ? answer : await describe(region);
    if (described.is === "unseen")
      model.sight.hide(own, "DeletionProtectionEnabled", {
        ...unseenOf(described, `protection ${what}`),
        id,
      });
    else Object.assign(own, protectionOf(described.is === "seen" ? described.value : {}));
    const backups = await look("dynamodb:DescribeContinuousBackups", async () => {
      const dynamodb = await clients.of("dynamodb", region, endpoint);
      return dynamodb.describeContinuousBackups({ TableName: place.name }, inTime());
    });
    const field = "PointInTimeRecoverySpecification";
    if (backups.is === "unseen")
      model.sight.hide(own, field, { ...unseenOf(backups, `point-in-time recovery ${what}`), id });
    if (backups.is !== "seen") return own;
    const { PointInTimeRecoveryDescription: recovery } = backups.value.ContinuousBackupsDescription ?? {};
    const PointInTimeRecoveryEnabled = recovery?.PointInTimeRecoveryStatus === "ENABLED";
    return Object.assign(own, { [field]: { PointInTimeRecoveryEnabled } });
  }
}

const protectionOf = ({ DeletionProtectionEnabled }: TableDescription) => ({
  DeletionProtectionEnabled: DeletionProtectionEnabled === true,
});
