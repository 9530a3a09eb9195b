/** The capacity of transactions and of indexes. */
import { expect } from "vitest";
import { COUNTED, type Item, sized, text, unitsOf } from "./capacity-given.ts";
import { api, guide, shows } from "./case.ts";
import { N, newTable, putPlain, S } from "./given.ts";
import type { DynamoDBSubject } from "./subject.ts";

const TRANSACTIONS = guide("transaction-apis#transaction-capacity-handling");

export const transactionCapacityCases = [
  shows("a transaction writes each item twice", TRANSACTIONS, async (subject) => {
    const [one, two] = [await putPlain(subject), await putPlain(subject)];
    const answer = await subject.call("TransactWriteItems", {
      TransactItems: [
        { Put: { TableName: one.TableName, Item: sized(one.Key, 1500) } },
        { ConditionCheck: { ...two, ConditionExpression: "attribute_exists(pk)" } },
      ],
      ...COUNTED,
    });

    expect(unitsOf(answer)).toEqual({ [one.TableName]: 6 });
  }),
  shows("a transaction reads each item twice", TRANSACTIONS, async (subject) => {
    const [one, two] = [await putPlain(subject), await putPlain(subject)];
    await subject.call("PutItem", { TableName: one.TableName, Item: sized(one.Key, 5000) });

    const answer = await subject.call("TransactGetItems", {
      TransactItems: [{ Get: one }, { Get: two }],
      ...COUNTED,
    });

    expect(unitsOf(answer)).toEqual({ [one.TableName]: 6 });
  }),
  shows("a repeated transaction tells what it read", api("TransactWriteItems"), async (subject) => {
    const at = await putPlain(subject);
    const input = {
      TransactItems: [{ Put: { TableName: at.TableName, Item: at.Key } }],
      ClientRequestToken: at.Key.pk.S.padEnd(12, "-") + Math.random().toString(36).slice(2, 12),
      ...COUNTED,
    };
    const capacity = async () => (await subject.call("TransactWriteItems", input)).ConsumedCapacity;

    expect(await capacity()).toMatchObject([{ WriteCapacityUnits: 2 }]);
    expect(await capacity()).toMatchObject([{ ReadCapacityUnits: 2 }]);
  }),
];

async function indexed(subject: DynamoDBSubject) {
  const TableName = await newTable(subject, {
    indexes: [
      {
        name: "whole",
        keys: [
          ["g", "S"],
          ["h", "N"],
        ],
      },
      { name: "keys", keys: [["g", "S"]], includes: [] },
    ],
  });
  return async (attributes: Item) => {
    const Item = { pk: S("a"), ...attributes };
    const put = await subject.call("PutItem", { TableName, Item, ReturnConsumedCapacity: "INDEXES" });
    const { CapacityUnits, Table, GlobalSecondaryIndexes = {} } = put.ConsumedCapacity ?? {};
    return [
      CapacityUnits,
      Table?.CapacityUnits,
      GlobalSecondaryIndexes.whole?.CapacityUnits,
      GlobalSecondaryIndexes.keys?.CapacityUnits,
    ];
  };
}

export const indexCapacityCases = [
  shows(
    "a write pays for the entries of indexes that it changes",
    guide("GSI#GSI.ThroughputConsiderations.Writes"),
    async (subject) => {
      const put = await indexed(subject);

      expect(await put({})).toEqual([1, 1, undefined, undefined]);
      expect(await put({ g: S("g") })).toEqual([2, 1, undefined, 1]);
      expect(await put({ g: S("g"), h: N(1) })).toEqual([2, 1, 1, undefined]);
      expect(await put({ g: S("g"), h: N(1) })).toEqual([1, 1, undefined, undefined]);
      expect(await put({ g: S("g"), h: N(1), x: N(1) })).toEqual([2, 1, 1, undefined]);
      expect(await put({ g: S("g"), h: N(2), x: N(1) })).toEqual([3, 1, 2, undefined]);
      expect(await put({ g: S("g2"), h: N(2), x: N(1) })).toEqual([5, 1, 2, 2]);
      expect(await put({ g: S("g2"), h: N(2), x: text(2000) })).toEqual([4, 2, 2, undefined]);
      expect(await put({ h: N(2) })).toEqual([5, 2, 2, 1]);
    },
  ),
];
