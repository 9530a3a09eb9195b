/** BatchGetItem and BatchWriteItem. */
import { expect } from "vitest";
import { api, recorded, refused, shows } from "./case.ts";
import { get, type M, N, newKey, newTable, plainTable, putPlain, S } from "./given.ts";

const GET = api("BatchGetItem");
const WRITE = api("BatchWriteItem");

const putRequest = (Item: Record<string, Parameters<typeof M>[0][string]>) => ({ PutRequest: { Item } });

export const batchGetCases = [
  shows("a batch gets what is there, of several tables", GET, async (subject) => {
    const [one, two] = [await putPlain(subject, { a: N(1) }), await putPlain(subject, { a: N(2) })];
    const other = await newTable(subject);
    const key = newKey();
    await subject.call("PutItem", { TableName: other, Item: key });

    const { Responses, UnprocessedKeys } = await subject.call("BatchGetItem", {
      RequestItems: {
        [one.TableName]: { Keys: [one.Key, newKey(), two.Key], ProjectionExpression: "a" },
        [other]: { Keys: [key], ConsistentRead: true },
      },
    });

    expect(Responses[one.TableName]).toHaveLength(2);
    expect(Responses[one.TableName]).toEqual(expect.arrayContaining([{ a: N(1) }, { a: N(2) }]));
    expect(Responses[other]).toEqual([key]);
    expect(UnprocessedKeys).toEqual({});
  }),
  shows(
    "a batch that finds nothing has an empty list",
    recorded("tier1/batchGetItem/basic"),
    async (subject) => {
      const table = await plainTable(subject);

      const { Responses } = await subject.call("BatchGetItem", {
        RequestItems: { [table]: { Keys: [newKey()] } },
      });

      expect(Responses).toEqual({ [table]: [] });
    },
  ),
  shows(
    "a batch gets 1 to 100 items, each once",
    recorded("tier1/batchGetItem/validation"),
    async (subject) => {
      const table = await plainTable(subject);
      const key = newKey();
      const batch = (Keys: readonly (typeof key)[]) =>
        subject.call("BatchGetItem", { RequestItems: { [table]: { Keys } } });

      await refused(subject.call("BatchGetItem", { RequestItems: {} }), "ValidationException");
      await refused(batch([]), "ValidationException");
      await refused(batch([key, key]), "ValidationException");
      await refused(batch(Array.from({ length: 101 }, newKey)), "ValidationException");
      await batch(Array.from({ length: 100 }, newKey));
    },
  ),
  shows(
    "a batch gets from tables that there are, by their keys",
    recorded("tier1/batchGetItem/validation"),
    async (subject) => {
      const table = await plainTable(subject);

      await refused(
        subject.call("BatchGetItem", { RequestItems: { "no-such-table": { Keys: [newKey()] } } }),
        "ResourceNotFoundException",
      );
      await refused(
        subject.call("BatchGetItem", { RequestItems: { [table]: { Keys: [{ pk: N(1) }] } } }),
        "ValidationException",
      );
    },
  ),
  shows("a batch gets at most 16 MB and leaves the rest", GET, async (subject) => {
    const table = await newTable(subject);
    const Keys = Array.from({ length: 44 }, newKey);
    for (const key of Keys) {
      await subject.call("PutItem", { TableName: table, Item: { ...key, data: S("x".repeat(390_000)) } });
    }

    const { Responses, UnprocessedKeys } = await subject.call("BatchGetItem", {
      RequestItems: { [table]: { Keys } },
    });

    const left = UnprocessedKeys[table]?.Keys.length ?? 0;
    expect(left).toBeGreaterThan(0);
    expect((Responses[table]?.length ?? 0) + left).toBe(44);
  }),
];

export const batchWriteCases = [
  shows("a batch puts and deletes, in several tables", WRITE, async (subject) => {
    const old = await putPlain(subject);
    const other = await newTable(subject);
    const key = newKey();

    const { UnprocessedItems } = await subject.call("BatchWriteItem", {
      RequestItems: {
        [old.TableName]: [putRequest({ ...key, a: N(1) }), { DeleteRequest: { Key: old.Key } }],
        [other]: [putRequest(key)],
      },
    });

    expect(UnprocessedItems).toEqual({});
    expect(await get(subject, { ...old, Key: key })).toEqual({ ...key, a: N(1) });
    expect(await get(subject, old)).toBeUndefined();
    expect(await get(subject, { TableName: other, Key: key })).toEqual(key);
  }),
  shows(
    "a batch writes 1 to 25 items, each once",
    recorded("tier1/batchWriteItem/validation"),
    async (subject) => {
      const table = await plainTable(subject);
      const key = newKey();
      const batch = (requests: readonly object[]) =>
        subject.call("BatchWriteItem", { RequestItems: { [table]: requests } });
      const puts = (count: number) => Array.from({ length: count }, () => putRequest(newKey()));

      await refused(subject.call("BatchWriteItem", { RequestItems: {} }), "ValidationException");
      await refused(batch([]), "ValidationException");
      await refused(batch([putRequest(key), { DeleteRequest: { Key: key } }]), "ValidationException");
      await refused(
        batch([{ ...putRequest(newKey()), DeleteRequest: { Key: newKey() } }]),
        "ValidationException",
      );
      await refused(batch([{}]), "ValidationException");
      await refused(batch(puts(26)), "ValidationException");
      await batch(puts(25));
    },
  ),
  shows("a batch with one wrong item writes nothing", WRITE, async (subject) => {
    const at = { TableName: await plainTable(subject), Key: newKey() };

    for (const wrong of [{ pk: N(1) }, { ...newKey(), data: S("x".repeat(410_000)) }]) {
      const RequestItems = { [at.TableName]: [putRequest(at.Key), putRequest(wrong)] };
      await refused(subject.call("BatchWriteItem", { RequestItems }), "ValidationException");
    }
    expect(await get(subject, at)).toBeUndefined();
  }),
  shows(
    "a batch writes to tables that there are",
    recorded("tier1/batchWriteItem/validation"),
    async (subject) => {
      const RequestItems = { "no-such-table": [putRequest(newKey())] };

      await refused(subject.call("BatchWriteItem", { RequestItems }), "ResourceNotFoundException");
    },
  ),
];
