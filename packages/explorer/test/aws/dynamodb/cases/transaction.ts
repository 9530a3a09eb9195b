/** TransactWriteItems: all or nothing. */
import { expect } from "vitest";
import { api, cancelled, guide, recorded, refused, shows } from "./case.ts";
import { get, N, newKey, newTable, plainTable, putPlain, S } from "./given.ts";
import { ABSENT, check, countUp, nowhere, put, remove, THERE, transact } from "./transaction-given.ts";

const API = api("TransactWriteItems");

export const transactWriteCases = [
  shows("a transaction does all its actions", API, async (subject) => {
    const [updated, deleted, checked] = [
      await putPlain(subject, { a: N(1) }),
      await putPlain(subject),
      await putPlain(subject),
    ];
    const created = { TableName: await newTable(subject), Key: newKey() };

    await transact(subject, [put(created), countUp(updated), remove(deleted), check(checked, THERE)]);

    expect(await get(subject, created)).toEqual({ ...created.Key, a: N(1) });
    expect(await get(subject, updated)).toEqual({ ...updated.Key, a: N(2) });
    expect(await get(subject, deleted)).toBeUndefined();
    expect(await get(subject, checked)).toEqual(checked.Key);
  }),
  shows("one condition that does not hold undoes all", API, async (subject) => {
    const [created, updated, missing] = [
      await nowhere(subject),
      await putPlain(subject, { a: N(1) }),
      await nowhere(subject),
    ];

    const codes = await cancelled(transact(subject, [put(created), countUp(updated), check(missing, THERE)]));

    expect(codes).toEqual(["None", "None", "ConditionalCheckFailed"]);
    expect(await get(subject, created)).toBeUndefined();
    expect(await get(subject, updated)).toEqual({ ...updated.Key, a: N(1) });
  }),
  shows(
    "each action has its own reason, in the order of the actions",
    recorded("tier3/error-messages/transactWriteItems"),
    async (subject) => {
      const [one, two, free] = [
        await putPlain(subject, { a: N(1) }),
        await putPlain(subject),
        await nowhere(subject),
      ];
      const ALL_OLD = { ReturnValuesOnConditionCheckFailure: "ALL_OLD" };

      const refusal = await refused(
        transact(subject, [
          put(one, { ConditionExpression: ABSENT, ...ALL_OLD }),
          put(free),
          remove(two, { ConditionExpression: ABSENT, ReturnValuesOnConditionCheckFailure: "NONE" }),
          check(await nowhere(subject), THERE, ALL_OLD),
          countUp(await nowhere(subject), { ConditionExpression: THERE }),
        ]),
        "TransactionCanceledException",
      );

      expect(refusal.CancellationReasons).toMatchObject([
        { Code: "ConditionalCheckFailed", Item: { ...one.Key, a: N(1) } },
        { Code: "None" },
        ...[0, 1, 2].map(() => ({ Code: "ConditionalCheckFailed" })),
      ]);
      const withItem = refusal.CancellationReasons?.map(({ Item }) => Item !== undefined);
      expect(withItem).toEqual([true, false, false, false, false]);
      expect(refusal.message).toContain(
        "[ConditionalCheckFailed, None, ConditionalCheckFailed, ConditionalCheckFailed, ConditionalCheckFailed]",
      );
    },
  ),
  shows(
    "an update in a transaction creates what is not there",
    recorded("tier2/transactions/transactWrite"),
    async (subject) => {
      const at = await nowhere(subject);

      await transact(subject, [countUp(at, { ConditionExpression: ABSENT })]);

      expect(await get(subject, at)).toEqual({ ...at.Key, a: N(1) });
    },
  ),
  shows("a transaction may check and write nothing", API, async (subject) => {
    await transact(subject, [check(await putPlain(subject), THERE), check(await nowhere(subject), ABSENT)]);
  }),
  shows("no two actions have one target", API, async (subject) => {
    const at = await putPlain(subject);

    for (const second of [remove(at), put(at), countUp(at), check(at, THERE)]) {
      await refused(transact(subject, [put(at), second]), "ValidationException");
    }
    await transact(subject, [put(at), put({ ...at, TableName: await newTable(subject) })]);
  }),
  shows("the same key however it is written is one target", API, async (subject) => {
    const TableName = await newTable(subject, { partitionKey: "N" });
    const actions = [N(1), N("1.0")].map((pk) => put({ TableName, Key: { pk } }));

    await refused(transact(subject, actions), "ValidationException");
  }),
  shows(
    "a transaction has 1 to 100 actions",
    guide("Constraints#limits-dynamodb-transactions"),
    async (subject) => {
      const TableName = await plainTable(subject);
      const puts = (count: number) => Array.from({ length: count }, () => put({ TableName, Key: newKey() }));

      await refused(transact(subject, []), "ValidationException");
      await transact(subject, puts(100));
      await refused(transact(subject, puts(101)), "ValidationException");
    },
  ),
  shows("a transaction has 4 MB", guide("Constraints#limits-dynamodb-transactions"), async (subject) => {
    const TableName = await plainTable(subject);
    const puts = (count: number) =>
      Array.from({ length: count }, () => ({
        Put: { TableName, Item: { ...newKey(), data: S("x".repeat(400_000)) } },
      }));

    await transact(subject, puts(10));
    await refused(transact(subject, puts(11)), "ValidationException");
  }),
];
