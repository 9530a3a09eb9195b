/** What streams record of each write. */
import { expect } from "vitest";
import type { StreamRecord } from "../../../../lib/aws/dynamodb/streams/stream-record.ts";
import { api, guide, refused, shows } from "./case.ts";
import { N, S } from "./given.ts";
import { FROM_THE_START, read, streamed, writeChangeDelete } from "./stream-given.ts";

const summary = (records: readonly StreamRecord[]) =>
  records.map(({ eventName, dynamodb }) => [
    eventName,
    (dynamodb.Keys.pk as { S: string }).S,
    ...[dynamodb.OldImage, dynamodb.NewImage].map((image) => (image?.n as { N: string } | undefined)?.N),
  ]);

const VIEWS = {
  KEYS_ONLY: { old: false, new: false },
  NEW_IMAGE: { old: false, new: true },
  OLD_IMAGE: { old: true, new: false },
  NEW_AND_OLD_IMAGES: { old: true, new: true },
};

export const streamCases = [
  ...Object.entries(VIEWS).map(([viewType, shown]) =>
    shows(
      `a stream of ${viewType} shows of each write what that says`,
      guide("Streams#Streams.Enabling"),
      async (subject) => {
        const { TableName, shard } = await streamed(subject, viewType);
        await writeChangeDelete(subject, TableName);

        const { Records } = await read(subject, shard, FROM_THE_START);

        const old = (image: string) => (shown.old ? image : undefined);
        const next = (image: string) => (shown.new ? image : undefined);
        expect(summary(Records)).toEqual([
          ["INSERT", "a", undefined, next("1")],
          ["MODIFY", "a", old("1"), next("2")],
          ["REMOVE", "a", old("2"), undefined],
        ]);
      },
    ),
  ),
  shows("a record tells what it is of", api("streams_Record"), async (subject) => {
    const { TableName, shard } = await streamed(subject);
    await subject.call("PutItem", { TableName, Item: { pk: S("a"), n: N(1) } });

    const { Records } = await read(subject, shard, FROM_THE_START);

    expect(Records).toMatchObject([
      {
        eventID: expect.any(String),
        eventName: "INSERT",
        eventSource: "aws:dynamodb",
        eventVersion: "1.1",
        awsRegion: expect.any(String),
        dynamodb: {
          ApproximateCreationDateTime: expect.any(Number),
          Keys: { pk: S("a") },
          NewImage: { pk: S("a"), n: N(1) },
          SequenceNumber: expect.stringMatching(/^\d+$/),
          SizeBytes: expect.any(Number),
          StreamViewType: "NEW_AND_OLD_IMAGES",
        },
      },
    ]);
    expect(Records[0]).not.toHaveProperty("userIdentity");
  }),
  shows("a write that changes nothing is not recorded", guide("Streams"), async (subject) => {
    const { TableName, shard } = await streamed(subject);
    const Key = { pk: S("a") };
    const values = { ":v": N("1.0"), ":s": { SS: ["b", "a"] } };
    for (const n of ["1", "1.0"]) {
      await subject.call("PutItem", { TableName, Item: { ...Key, n: N(n), s: { SS: ["a", "b"] } } });
    }
    await subject.call("UpdateItem", {
      TableName,
      Key,
      UpdateExpression: "SET n = :v, s = :s",
      ExpressionAttributeValues: values,
    });
    await subject.call("DeleteItem", { TableName, Key: { pk: S("nobody") } });

    expect(summary((await read(subject, shard, FROM_THE_START)).Records)).toHaveLength(1);
  }),
  shows("a refused write is not recorded", guide("Streams"), async (subject) => {
    const { TableName, shard } = await streamed(subject);
    const Item = { pk: S("a") };
    const ConditionExpression = "attribute_exists(pk)";

    await refused(
      subject.call("PutItem", { TableName, Item, ConditionExpression }),
      "ConditionalCheckFailedException",
    );
    const Put = { TableName, Item };
    const ConditionCheck = { TableName, Key: { pk: S("b") }, ConditionExpression };
    await refused(
      subject.call("TransactWriteItems", { TransactItems: [{ Put }, { ConditionCheck }] }),
      "TransactionCanceledException",
    );

    expect((await read(subject, shard, FROM_THE_START)).Records).toEqual([]);
  }),
  shows("transactions and batches are recorded item by item", guide("Streams"), async (subject) => {
    const { TableName, shard } = await streamed(subject);
    const put = (pk: string) => ({ TableName, Item: { pk: S(pk) } });
    const checked = { TableName, Key: { pk: S("c") }, ConditionExpression: "attribute_not_exists(pk)" };

    await subject.call("TransactWriteItems", {
      TransactItems: [{ Put: put("a") }, { Put: put("b") }, { ConditionCheck: checked }],
    });
    await subject.call("BatchWriteItem", {
      RequestItems: {
        [TableName]: [{ PutRequest: { Item: { pk: S("c") } } }, { DeleteRequest: { Key: { pk: S("a") } } }],
      },
    });

    const { Records } = await read(subject, shard, FROM_THE_START);
    expect(
      Records.map(({ eventName, dynamodb }) => `${eventName} ${(dynamodb.Keys.pk as { S: string }).S}`),
    ).toEqual(["INSERT a", "INSERT b", "INSERT c", "REMOVE a"]);
  }),
];
