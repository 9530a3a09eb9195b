/** Writes with a condition, and keys. */
import { expect } from "vitest";
import { api, dynalite, guide, recorded, refused, shows } from "./case.ts";
import { B, get, items, N, newKey, newTable, plainTable, putPlain, S } from "./given.ts";

export const conditionFailureCases = [
  shows(
    "a write whose condition does not hold changes nothing",
    guide("WorkingWithItems#WorkingWithItems.ConditionalUpdate"),
    async (subject) => {
      const at = await putPlain(subject, { a: N(1) });
      const ConditionExpression = "attribute_not_exists(pk)";

      await refused(
        subject.call("PutItem", { TableName: at.TableName, Item: at.Key, ConditionExpression }),
        "ConditionalCheckFailedException",
      );
      await refused(
        subject.call("DeleteItem", { ...at, ConditionExpression }),
        "ConditionalCheckFailedException",
      );
      await refused(
        subject.call("UpdateItem", { ...at, ConditionExpression, UpdateExpression: "REMOVE a" }),
        "ConditionalCheckFailedException",
      );
      expect(await get(subject, at)).toEqual({ ...at.Key, a: N(1) });
    },
  ),
  shows("the refusal carries the item where it is asked to", api("PutItem"), async (subject) => {
    const at = await putPlain(subject, { a: N(1), b: B(1) });
    const refuse = (ReturnValuesOnConditionCheckFailure: string) =>
      refused(
        subject.call("UpdateItem", {
          ...at,
          ConditionExpression: "a = :v",
          ExpressionAttributeValues: { ":v": N(2) },
          ReturnValuesOnConditionCheckFailure,
        }),
        "ConditionalCheckFailedException",
      );

    expect((await refuse("ALL_OLD")).Item).toEqual({ ...at.Key, a: N(1), b: B(1) });
    expect((await refuse("NONE")).Item).toBeUndefined();
  }),
  shows("the refusal for a missing item carries none", api("PutItem"), async (subject) => {
    const TableName = await plainTable(subject);

    const refusal = await refused(
      subject.call("DeleteItem", {
        TableName,
        Key: newKey(),
        ConditionExpression: "attribute_exists(pk)",
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
      "ConditionalCheckFailedException",
    );

    expect(refusal.Item).toBeUndefined();
  }),
  shows("a condition is about the item as it was", api("UpdateItem"), async (subject) => {
    const at = await putPlain(subject, { a: N(1) });
    const countUp = {
      ...at,
      UpdateExpression: "SET a = a + :one",
      ConditionExpression: "a = :one",
      ExpressionAttributeValues: { ":one": N(1) },
    };

    await subject.call("UpdateItem", countUp);
    await refused(subject.call("UpdateItem", countUp), "ConditionalCheckFailedException");
    expect(await get(subject, at)).toMatchObject({ a: N(2) });
  }),
  shows("placeholders come with expressions", dynalite("putItem"), async (subject) => {
    const TableName = await plainTable(subject);
    const Item = newKey();

    for (const more of [
      { ExpressionAttributeNames: { "#a": "a" } },
      { ExpressionAttributeValues: { ":a": N(1) } },
    ]) {
      await refused(subject.call("PutItem", { TableName, Item, ...more }), "ValidationException");
    }
  }),
];

export const keyCases = [
  shows("a number is the same key however it is written", dynalite("getItem"), async (subject) => {
    const TableName = await newTable(subject, { partitionKey: "N", sortKey: "N" });
    await subject.call("PutItem", { TableName, Item: { pk: N("1.0"), sk: N("-0"), a: N(1) } });

    const item = await get(subject, { TableName, Key: { pk: N("1e0"), sk: N("0.00") } });

    expect(item).toEqual({ pk: N(1), sk: N(0), a: N(1) });
  }),
  shows("bytes are a key", recorded("tier1/putItem/binaryKeys"), async (subject) => {
    const TableName = await newTable(subject, { partitionKey: "B" });
    await subject.call("PutItem", { TableName, Item: { pk: B(0, 255), a: N(1) } });

    expect(await get(subject, { TableName, Key: { pk: B(0, 255) } })).toEqual({ pk: B(0, 255), a: N(1) });
    expect(await get(subject, { TableName, Key: { pk: B(0) } })).toBeUndefined();
  }),
  shows("an item has all of its key, in its types", recorded("tier1/putItem/validation"), async (subject) => {
    const TableName = await newTable(subject, { sortKey: "N" });

    for (const Item of items(
      { pk: S("a") },
      { sk: N(1) },
      { pk: S("a"), sk: S("1") },
      { pk: N(1), sk: N(1) },
    )) {
      await refused(subject.call("PutItem", { TableName, Item }), "ValidationException");
    }
  }),
  shows("a key is the whole key and nothing else", dynalite("getItem"), async (subject) => {
    const TableName = await newTable(subject, { sortKey: "N" });

    for (const Key of items(
      { pk: S("a") },
      { pk: S("a"), sk: S("1") },
      { pk: S("a"), sk: N(1), other: N(1) },
      { pk: S("a"), other: N(1) },
      {},
    )) {
      await refused(subject.call("GetItem", { TableName, Key }), "ValidationException");
      await refused(subject.call("DeleteItem", { TableName, Key }), "ValidationException");
      await refused(subject.call("UpdateItem", { TableName, Key }), "ValidationException");
    }
  }),
  shows("a key is not empty", recorded("tier3/limits/emptyValues"), async (subject) => {
    const TableName = await newTable(subject, { sortKey: "S" });

    for (const Key of [
      { pk: S(""), sk: S("a") },
      { pk: S("a"), sk: S("") },
    ]) {
      await refused(subject.call("PutItem", { TableName, Item: Key }), "ValidationException");
      await refused(subject.call("GetItem", { TableName, Key }), "ValidationException");
    }
  }),
  shows(
    "a partition key has 2048 bytes, a sort key 1024",
    guide("Constraints#limits-partition-sort-keys"),
    async (subject) => {
      const TableName = await newTable(subject, { sortKey: "S" });
      const put = (pk: number, sk: number) =>
        subject.call("PutItem", { TableName, Item: { pk: S("k".repeat(pk)), sk: S("k".repeat(sk)) } });

      await put(2048, 1024);
      await refused(put(2049, 1), "ValidationException");
      await refused(put(1, 1025), "ValidationException");
    },
  ),
];
