import type { Stack } from "aws-cdk-lib";
import {
  AttributeType,
  ProjectionType,
  StreamViewType,
  TableEncryptionV2,
  TableV2,
} from "aws-cdk-lib/aws-dynamodb";
import { Key } from "aws-cdk-lib/aws-kms";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { DedupQueue, IdempotencyTable, OutboxRelay } from "onceonly/cdk";
import { describe, expect, it, test } from "vitest";
import { MISCONFIGURATIONS, misconfigurationsPage } from "./cases/all.ts";
import { runner, saidOf, tableIn, type Verdict } from "./given.ts";

/** What each verdict looks like. A warning may come with a note, and a refusal is CDK's or ours. */
const SAID: Readonly<Record<Verdict, ReturnType<typeof saidOf>["verdict"]>> = {
  refused: "refused",
  "refused by CDK": "refused",
  warned: "warned",
  noted: "noted",
  accepted: "nothing",
};

function queued(stack: Stack): void {
  const table = tableIn(stack, { outbox: true });
  const queue = new DedupQueue(stack, "Queue");
  queue.addConsumer(runner(stack, { table, commits: true }));
  new OutboxRelay(stack, "Outbox", { table, destinations: [queue.queue] });
}

function singleTable(stack: Stack): void {
  const encryptionKey = new Key(stack, "Key", { enableKeyRotation: true });
  const own = new TableV2(stack, "Own", {
    partitionKey: { name: "PK", type: AttributeType.STRING },
    sortKey: { name: "SK", type: AttributeType.STRING },
    timeToLiveAttribute: "ttl",
    dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES,
    encryption: TableEncryptionV2.customerManagedKey(encryptionKey),
    globalSecondaryIndexes: [
      {
        indexName: "outbox",
        partitionKey: { name: "unsentShard", type: AttributeType.NUMBER },
        sortKey: { name: "unsentSince", type: AttributeType.NUMBER },
        projectionType: ProjectionType.KEYS_ONLY,
      },
    ],
  });
  const table = IdempotencyTable.fromTableAttributes(stack, "Table", {
    tableName: own.tableName,
    tableStreamArn: own.tableStreamArn as string,
    encryptionKey,
    partitionKey: "PK",
    sortKey: { name: "SK", value: "onceonly" },
    ttlAttribute: "ttl",
  });
  runner(stack, { table, commits: true });
  new OutboxRelay(stack, "Outbox", { table, destinations: [new Queue(stack, "To")] });
}

describe("a synthesis", () => {
  it.each<[string, (stack: Stack) => unknown]>([
    ["a function and its table", (stack) => runner(stack, { table: tableIn(stack) })],
    ["a queue, its consumer and a relay that feeds it", queued],
    ["a single table with a customer key and key names of its own", singleTable],
  ])("says nothing of what is right: %s", (_, make) => {
    expect(saidOf(make)).toEqual({ verdict: "nothing", texts: [] });
  });

  it.each(MISCONFIGURATIONS)("$number: says of $wrong: $verdict", ({ verdict, by, make }) => {
    const said = saidOf(make);

    expect(said).toMatchObject({ verdict: SAID[verdict] });
    if (verdict !== "accepted") expect(said.texts.join("\n")).toContain(by);
  });
});

describe("docs/use/misconfigurations.md", () => {
  it("has every misconfiguration", async () => {
    await expect(misconfigurationsPage()).toMatchFileSnapshot("../../../docs/use/misconfigurations.md");
  });

  test("at least 160 are tried, and at most 25 accepted, each with its reason", () => {
    const accepted = MISCONFIGURATIONS.filter(({ verdict }) => verdict === "accepted");

    expect(MISCONFIGURATIONS.length).toBeGreaterThanOrEqual(160);
    expect(accepted.length).toBeLessThanOrEqual(25);
    expect(new Set(accepted.map(({ by }) => by)).size).toBeGreaterThan(15);
  });

  test("none is listed twice", () => {
    const wrong = MISCONFIGURATIONS.map((each) => `${each.number[0]} ${each.wrong}`);
    expect(wrong).toEqual([...new Set(wrong)]);
  });
});
