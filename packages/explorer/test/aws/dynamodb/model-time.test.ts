// What the model does as time passes: expiry, the retention of streams, iterators and tokens.
import { describe, expect, it } from "vitest";
import { refused } from "./cases/case.ts";
import { N, S } from "./cases/given.ts";
import { modelWithTable } from "./given.ts";

const HOUR_MS = 3_600_000;

async function modelWithStream(ttlLagSeconds?: number) {
  const { clock, model, TableName } = await modelWithTable({ ttlLagSeconds }, "OLD_IMAGE");
  const TimeToLiveSpecification = { AttributeName: "expiresAt", Enabled: true };
  await model.call("UpdateTimeToLive", { TableName, TimeToLiveSpecification });
  const { Table } = await model.call("DescribeTable", { TableName });
  const StreamArn = String(Table.LatestStreamArn);
  const { StreamDescription } = await model.call("DescribeStream", { StreamArn });
  const [{ ShardId }] = StreamDescription.Shards as readonly [{ readonly ShardId: string }];

  const put = (pk: string, more: object = {}) =>
    model.call("PutItem", { TableName, Item: { pk: S(pk), ...more } });
  /** An expiry so many seconds from now. */
  const inSeconds = (seconds: number) => ({ expiresAt: N(clock.now() / 1000 + seconds) });
  const iterate = async (position: object = { ShardIteratorType: "TRIM_HORIZON" }) => {
    const input = { StreamArn, ShardId, ...(position as { readonly ShardIteratorType: string }) };
    return (await model.call("GetShardIterator", input)).ShardIterator;
  };
  const read = async (position?: object) =>
    (await model.call("GetRecords", { ShardIterator: await iterate(position) })).Records;
  const keys = async () =>
    (await model.call("Scan", { TableName })).Items?.map(({ pk }) => (pk as { S: string }).S).sort();
  return { clock, model, TableName, StreamArn, put, inSeconds, iterate, read, keys };
}

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/howitworks-ttl.html
describe("DynamoDBModel's time to live", () => {
  it("deletes expired items when it is swept, and not before", async () => {
    const { clock, model, put, inSeconds, keys } = await modelWithStream();
    await put("soon", inSeconds(10));
    await put("later", inSeconds(11));
    await put("never");
    await put("no number", { expiresAt: S("1") });
    await put("a mistake", { expiresAt: N(1) });

    await clock.advance(10_000);
    expect(await keys()).toHaveLength(5);
    expect(model.sweep()).toBe(1);

    expect(await keys()).toEqual(["a mistake", "later", "never", "no number"]);
    expect(model.sweep()).toBe(0);
  });

  it("deletes by itself once the lag is over", async () => {
    const { clock, put, inSeconds, keys } = await modelWithStream(60);
    await put("a", inSeconds(10));

    await clock.advance(69_999);
    expect(await keys()).toEqual(["a"]);
    await clock.advance(1);
    expect(await keys()).toEqual([]);
  });

  it("records in the stream who deleted, and costs no write units", async () => {
    const { clock, model, TableName, put, inSeconds, read } = await modelWithStream();
    await put("a", inSeconds(10));
    const before = model.usedCapacity(TableName);
    await clock.advance(20_000);

    model.sweep();

    expect((await read()).at(-1)).toMatchObject({
      eventName: "REMOVE",
      dynamodb: {
        ApproximateCreationDateTime: Math.floor(clock.now() / 1000),
        Keys: { pk: S("a") },
        OldImage: { pk: S("a") },
      },
      userIdentity: { PrincipalId: "dynamodb.amazonaws.com", Type: "Service" },
    });
    expect(model.usedCapacity(TableName)).toEqual(before);
  });

  it("leaves tables alone that have it switched off", async () => {
    const { clock, model, TableName, put, inSeconds, keys } = await modelWithStream();
    await put("a", inSeconds(1));
    const TimeToLiveSpecification = { AttributeName: "expiresAt", Enabled: false };
    await model.call("UpdateTimeToLive", { TableName, TimeToLiveSpecification });
    await clock.advance(HOUR_MS);

    expect([model.sweep(), await keys()]).toEqual([0, ["a"]]);
  });
});

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
describe("DynamoDBModel's streams", () => {
  it("keep records for 24 hours", async () => {
    const { clock, put, read } = await modelWithStream();
    await put("first");
    await clock.advance(HOUR_MS);
    await put("second");
    const keysOf = async () => (await read()).map(({ dynamodb }) => dynamodb.Keys.pk);

    await clock.advance(23 * HOUR_MS - 1);
    expect(await keysOf()).toEqual([S("first"), S("second")]);
    await clock.advance(1);
    expect(await keysOf()).toEqual([S("second")]);
  });

  it("reject readers that are behind the kept records", async () => {
    const { clock, model, put, iterate, read } = await modelWithStream();
    await put("first");
    const [first] = await read();
    await clock.advance(24 * HOUR_MS - 60_000);
    const ShardIterator = await iterate();
    await put("second");

    await clock.advance(60_000);

    await refused(model.call("GetRecords", { ShardIterator }), "TrimmedDataAccessException");
    const SequenceNumber = first?.dynamodb.SequenceNumber;
    const position = { ShardIteratorType: "AFTER_SEQUENCE_NUMBER", SequenceNumber };
    await refused(iterate(position), "TrimmedDataAccessException");
    expect(await read()).toHaveLength(1);
  });

  it("know iterators for 15 minutes", async () => {
    const { clock, model, iterate } = await modelWithStream();
    const ShardIterator = await iterate();

    await clock.advance(15 * 60_000);
    await model.call("GetRecords", { ShardIterator });
    await clock.advance(1);
    await refused(model.call("GetRecords", { ShardIterator }), "ExpiredIteratorException");
  });

  it("are gone 24 hours after their table", async () => {
    const { clock, model, TableName, StreamArn } = await modelWithStream();
    await model.call("DeleteTable", { TableName });

    await clock.advance(24 * HOUR_MS - 1);
    expect((await model.call("ListStreams", {})).Streams).toHaveLength(1);
    await clock.advance(1);
    await refused(model.call("DescribeStream", { StreamArn }), "ResourceNotFoundException");
    expect((await model.call("ListStreams", {})).Streams).toEqual([]);
  });

  it("close with their table, and their readers come to an end", async () => {
    const { model, TableName, put, iterate } = await modelWithStream();
    await put("a");
    const ShardIterator = await iterate();
    await model.call("DeleteTable", { TableName });

    const { Records, NextShardIterator } = await model.call("GetRecords", { ShardIterator });

    expect([Records.length, NextShardIterator]).toEqual([1, undefined]);
  });
});

// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
describe("DynamoDBModel's transactions", () => {
  it("H10: remember a token for 10 minutes, and no longer", async () => {
    const { clock, model, TableName } = await modelWithStream();
    const Update = {
      TableName,
      Key: { pk: S("a") },
      UpdateExpression: "ADD n :one",
      ExpressionAttributeValues: { ":one": N(1) },
    };
    const transact = () =>
      model.call("TransactWriteItems", { TransactItems: [{ Update }], ClientRequestToken: "token" });
    const count = async () => (await model.call("GetItem", { TableName, Key: { pk: S("a") } })).Item?.n;

    await transact();
    await clock.advance(600_000 - 1);
    await transact();
    expect(await count()).toEqual(N(1));
    await clock.advance(1);
    await transact();
    expect(await count()).toEqual(N(2));
  });
});
