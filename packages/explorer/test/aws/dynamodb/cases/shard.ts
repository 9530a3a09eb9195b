/** How streams are read. */
import { expect } from "vitest";
import { api, guide, recorded, refused, shows } from "./case.ts";
import { S } from "./given.ts";
import { FROM_THE_START, read, streamed, writeChangeDelete } from "./stream-given.ts";

export const shardCases = [
  shows("a reader goes on where it was", api("streams_GetRecords"), async (subject) => {
    const { TableName, shard } = await streamed(subject);
    await writeChangeDelete(subject, TableName);
    const first = await read(subject, shard, FROM_THE_START, 2);

    const rest = await subject.call("GetRecords", { ShardIterator: String(first.NextShardIterator) });
    const none = await subject.call("GetRecords", { ShardIterator: String(rest.NextShardIterator) });
    await subject.call("PutItem", { TableName, Item: { pk: S("b") } });
    const more = await subject.call("GetRecords", { ShardIterator: String(none.NextShardIterator) });

    expect([first, rest, none, more].map(({ Records }) => Records.map(({ eventName }) => eventName))).toEqual(
      [["INSERT", "MODIFY"], ["REMOVE"], [], ["INSERT"]],
    );
  }),
  shows(
    "a reader begins at a record, after it, or with what comes",
    api("streams_GetShardIterator"),
    async (subject) => {
      const { TableName, shard } = await streamed(subject);
      await writeChangeDelete(subject, TableName);
      const { Records } = await read(subject, shard, FROM_THE_START);
      const SequenceNumber = Records[1]?.dynamodb.SequenceNumber;
      const namesFrom = async (position: object) =>
        (await read(subject, shard, position)).Records.map(({ eventName }) => eventName);

      expect(await namesFrom({ ShardIteratorType: "AT_SEQUENCE_NUMBER", SequenceNumber })).toEqual([
        "MODIFY",
        "REMOVE",
      ]);
      expect(await namesFrom({ ShardIteratorType: "AFTER_SEQUENCE_NUMBER", SequenceNumber })).toEqual([
        "REMOVE",
      ]);
      expect(await namesFrom({ ShardIteratorType: "LATEST" })).toEqual([]);
    },
  ),
  shows("sequence numbers go up", api("streams_StreamRecord"), async (subject) => {
    const { TableName, shard } = await streamed(subject);
    await writeChangeDelete(subject, TableName);

    const { Records } = await read(subject, shard, FROM_THE_START);

    const numbers = Records.map(({ dynamodb }) => BigInt(dynamodb.SequenceNumber));
    expect(numbers.toSorted((first, second) => (first < second ? -1 : 1))).toEqual(numbers);
    expect(new Set(numbers).size).toBe(3);
  }),
  shows("a position has a number where it needs one", api("streams_GetShardIterator"), async (subject) => {
    const { shard } = await streamed(subject);

    for (const position of [
      { ShardIteratorType: "AT_SEQUENCE_NUMBER" },
      { ShardIteratorType: "TRIM_HORIZON", SequenceNumber: "100000000000000000001" },
    ]) {
      await refused(read(subject, shard, position), "ValidationException");
    }
  }),
  shows("a shard is one that there is", api("streams_GetShardIterator"), async (subject) => {
    const { shard } = await streamed(subject);
    const ShardId = "shardId-00000000000000000000-00000000";

    await refused(read(subject, { ...shard, ShardId }, FROM_THE_START), "ResourceNotFoundException");
    const StreamArn = `${shard.StreamArn.slice(0, -3)}999`;
    await refused(subject.call("DescribeStream", { StreamArn }), "ResourceNotFoundException");
    await refused(subject.call("GetRecords", { ShardIterator: "garbage" }), "ValidationException");
  }),
  shows("a reader takes 1 to 1000 records", api("streams_GetRecords"), async (subject) => {
    const { shard } = await streamed(subject);
    const { ShardIterator } = await subject.call("GetShardIterator", { ...shard, ...FROM_THE_START });

    for (const Limit of [0, 1001]) {
      await refused(subject.call("GetRecords", { ShardIterator, Limit }), "ValidationException");
    }
  }),
  shows("streams are listed by table", recorded("tier2/streams/basic"), async (subject) => {
    const { TableName, shard } = await streamed(subject);

    const { Streams } = await subject.call("ListStreams", { TableName });

    expect(Streams).toMatchObject([{ StreamArn: shard.StreamArn, TableName }]);
  }),
  shows("the stream of a deleted table can be read to its end", guide("Streams"), async (subject) => {
    const { TableName, shard } = await streamed(subject);
    await subject.call("PutItem", { TableName, Item: { pk: S("a") } });
    await subject.call("DeleteTable", { TableName });

    const { Records, NextShardIterator } = await read(subject, shard, FROM_THE_START, 1);
    const end = NextShardIterator && (await subject.call("GetRecords", { ShardIterator: NextShardIterator }));

    expect(Records).toHaveLength(1);
    expect(end || { Records: [] }).toEqual({ Records: [] });
    const { StreamDescription } = await subject.call("DescribeStream", { StreamArn: shard.StreamArn });
    expect(StreamDescription.StreamStatus).toBe("DISABLED");
  }),
];
