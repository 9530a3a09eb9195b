/** The capacity that single reads and writes consume, and batches. */
import { expect } from "vitest";
import { COUNTED, sized, text, unitsOf } from "./capacity-given.ts";
import { api, guide, shows } from "./case.ts";
import { N, newKey, newTable, putPlain, S } from "./given.ts";

const OPERATIONS = guide("read-write-operations");

function writes(what: string, before: number, after: number, units: number) {
  return shows(`${what} costs ${units} write units`, OPERATIONS, async (subject) => {
    const at = await putPlain(subject);
    if (before > 0) await subject.call("PutItem", { TableName: at.TableName, Item: sized(at.Key, before) });
    else await subject.call("DeleteItem", at);

    const { ConsumedCapacity } = await (after > 0
      ? subject.call("PutItem", { TableName: at.TableName, Item: sized(at.Key, after), ...COUNTED })
      : subject.call("DeleteItem", { ...at, ...COUNTED }));

    expect(ConsumedCapacity).toEqual({ TableName: at.TableName, CapacityUnits: units });
  });
}

function reads(what: string, bytes: number, ConsistentRead: boolean, units: number) {
  return shows(
    `${ConsistentRead ? "a consistent" : "a"} get of ${what} costs ${units} read units`,
    OPERATIONS,
    async (subject) => {
      const at = await putPlain(subject);
      if (bytes > 0) await subject.call("PutItem", { TableName: at.TableName, Item: sized(at.Key, bytes) });
      else await subject.call("DeleteItem", at);

      const { ConsumedCapacity } = await subject.call("GetItem", { ...at, ConsistentRead, ...COUNTED });

      expect(ConsumedCapacity).toEqual({ TableName: at.TableName, CapacityUnits: units });
    },
  );
}

export const capacityCases = [
  writes("a put of 1 KB", 0, 1024, 1),
  writes("a put of a byte more", 0, 1025, 2),
  writes("a put over a larger item", 3000, 100, 3),
  writes("a delete of 3 KB", 3000, 0, 3),
  writes("a delete of nothing", 0, 0, 1),
  reads("4 KB", 4096, true, 1),
  reads("4 KB", 4096, false, 0.5),
  reads("a byte more", 4097, true, 2),
  reads("nothing", 0, true, 1),
  reads("nothing", 0, false, 0.5),
  shows("an update costs what the larger version does", OPERATIONS, async (subject) => {
    const at = await putPlain(subject);
    const update = (data: number) =>
      subject.call("UpdateItem", {
        ...at,
        UpdateExpression: "SET d = :d",
        ExpressionAttributeValues: { ":d": text(data) },
        ...COUNTED,
      });

    const costs = [await update(2000), await update(10), await update(10)];

    expect(costs.map(({ ConsumedCapacity }) => ConsumedCapacity?.CapacityUnits)).toEqual([2, 2, 1]);
  }),
  shows("capacity is returned if it is asked for", OPERATIONS, async (subject) => {
    const at = await putPlain(subject);

    expect(await subject.call("GetItem", { ...at, ReturnConsumedCapacity: "NONE" })).toEqual({
      Item: at.Key,
    });
    const { ConsumedCapacity } = await subject.call("GetItem", { ...at, ReturnConsumedCapacity: "INDEXES" });
    expect(ConsumedCapacity).toEqual({
      TableName: at.TableName,
      CapacityUnits: 0.5,
      Table: { CapacityUnits: 0.5 },
    });
  }),
  shows("a query pays for all it reads together, whatever it hands out", OPERATIONS, async (subject) => {
    const TableName = await newTable(subject, { sortKey: "N" });
    for (const sk of [1, 2, 3]) {
      await subject.call("PutItem", { TableName, Item: { pk: S("a"), sk: N(sk), d: text(3000) } });
    }
    const cost = async (more: object) => {
      const { ConsumedCapacity } = await subject.call("Query", {
        TableName,
        KeyConditionExpression: "pk = :a",
        ExpressionAttributeValues: { ":a": S("a") },
        ...COUNTED,
        ...more,
      });
      return ConsumedCapacity?.CapacityUnits;
    };

    expect(await cost({ ConsistentRead: true })).toBe(3);
    expect(await cost({})).toBe(1.5);
    expect(await cost({ Limit: 1 })).toBe(0.5);
    expect(await cost({ ProjectionExpression: "sk", ConsistentRead: true })).toBe(3);
    expect(await cost({ FilterExpression: "attribute_not_exists(d)", ConsistentRead: true })).toBe(3);
    const scanned = await subject.call("Scan", { TableName, ConsistentRead: true, ...COUNTED });
    expect(scanned.ConsumedCapacity?.CapacityUnits).toBe(3);
  }),
  shows("a query that finds nothing pays for one read", OPERATIONS, async (subject) => {
    const { TableName } = await putPlain(subject);

    const { ConsumedCapacity } = await subject.call("Query", {
      TableName,
      KeyConditionExpression: "pk = :a",
      ExpressionAttributeValues: { ":a": S("nobody") },
      ...COUNTED,
    });

    expect(ConsumedCapacity?.CapacityUnits).toBe(0.5);
  }),
  shows("batches tell for each table", api("BatchWriteItem"), async (subject) => {
    const [one, two] = [await putPlain(subject), { TableName: await newTable(subject), Key: newKey() }];
    const written = await subject.call("BatchWriteItem", {
      RequestItems: {
        [one.TableName]: [{ PutRequest: { Item: sized(one.Key, 2000) } }, { PutRequest: { Item: newKey() } }],
        [two.TableName]: [{ PutRequest: { Item: two.Key } }],
      },
      ...COUNTED,
    });
    const read = await subject.call("BatchGetItem", {
      RequestItems: {
        [one.TableName]: { Keys: [one.Key, newKey()] },
        [two.TableName]: { Keys: [two.Key], ConsistentRead: true },
      },
      ...COUNTED,
    });

    expect(unitsOf(written)).toEqual({ [one.TableName]: 3, [two.TableName]: 1 });
    expect(unitsOf(read)).toEqual({ [one.TableName]: 1, [two.TableName]: 1 });
  }),
];
