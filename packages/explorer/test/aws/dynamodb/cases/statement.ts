/** BatchExecuteStatement, with the statements that the model has. */
import { expect } from "vitest";
import { api, guide, refused, shows } from "./case.ts";
import { get, type M, N, newKey, plainTable, putPlain, S } from "./given.ts";
import type { DynamoDBSubject } from "./subject.ts";

const BATCH = api("BatchExecuteStatement");
const INSERTS = guide("ql-reference.insert");
const UPDATES = guide("ql-reference.update");

type Value = Parameters<typeof M>[0][string];

const insert = (table: string, pk: Value, a: Value = N(1)) => ({
  Statement: `INSERT INTO "${table}" VALUE {'pk': ?, 'a': ?}`,
  Parameters: [pk, a],
  ReturnValuesOnConditionCheckFailure: "ALL_OLD",
});

/** Sets `b`, and `a` to 3, where `a` is as it says. */
const update = (table: string, pk: Value, a: Value) => ({
  Statement: `UPDATE "${table}" SET "b" = ? SET "a" = ? WHERE "pk" = ? AND "a" = ?`,
  Parameters: [S("new"), N(3), pk, a],
  ReturnValuesOnConditionCheckFailure: "ALL_OLD",
});

async function errorsOf(subject: DynamoDBSubject, Statements: readonly ReturnType<typeof insert>[]) {
  const { Responses } = await subject.call("BatchExecuteStatement", { Statements });
  return Responses.map((each) => each.Error);
}

export const statementCases = [
  shows("statements insert items, each by itself", INSERTS, async (subject) => {
    const there = await putPlain(subject, { a: N(9) });
    const table = there.TableName;
    const [one, two] = [newKey(), newKey()];

    const errors = await errorsOf(subject, [
      insert(table, one.pk),
      insert(table, there.Key.pk),
      insert(table, two.pk),
    ]);

    expect(errors.map((error) => error?.Code)).toEqual([undefined, "DuplicateItem", undefined]);
    expect(await get(subject, { TableName: table, Key: one })).toEqual({ ...one, a: N(1) });
    expect(await get(subject, { TableName: table, Key: two })).toEqual({ ...two, a: N(1) });
    expect(await get(subject, there)).toEqual({ ...there.Key, a: N(9) });
  }),
  // Documented for conditions that failed; recorded here as what both engines do.
  shows("an insertion is refused without the item that is there", BATCH, async (subject) => {
    const { TableName, Key } = await putPlain(subject, { a: N(9) });

    const [error] = await errorsOf(subject, [insert(TableName, Key.pk)]);

    expect(error).toMatchObject({ Code: "DuplicateItem" });
    expect(error?.Item).toBeUndefined();
  }),
  shows("statements update items that are as they say", UPDATES, async (subject) => {
    const as = await putPlain(subject, { a: N(1) });
    const other = await putPlain(subject, { a: N(2) });
    const none = newKey();

    const errors = await errorsOf(subject, [
      update(as.TableName, as.Key.pk, N(1)),
      update(as.TableName, other.Key.pk, N(1)),
      update(as.TableName, none.pk, N(1)),
    ]);

    expect(errors.map((error) => error?.Code)).toEqual([
      undefined,
      "ConditionalCheckFailed",
      "ConditionalCheckFailed",
    ]);
    expect(await get(subject, as)).toEqual({ ...as.Key, a: N(3), b: S("new") });
    expect(await get(subject, other)).toEqual({ ...other.Key, a: N(2) });
    expect(await get(subject, { TableName: as.TableName, Key: none })).toBeUndefined();
  }),
  shows("an update is refused with the item that is there", BATCH, async (subject) => {
    const { TableName, Key } = await putPlain(subject, { a: N(2) });

    const [refusedUpdate, ofNothing] = await errorsOf(subject, [
      update(TableName, Key.pk, N(1)),
      update(TableName, newKey().pk, N(1)),
    ]);

    expect(refusedUpdate).toMatchObject({ Code: "ConditionalCheckFailed", Item: { ...Key, a: N(2) } });
    expect(ofNothing?.Item).toBeUndefined();
  }),
  shows("a statement that cannot be done leaves the others alone", BATCH, async (subject) => {
    const TableName = await plainTable(subject);
    const [one, two] = [newKey(), newKey()];

    const errors = await errorsOf(subject, [
      insert(TableName, one.pk),
      insert("no-such-table", one.pk),
      insert(TableName, N(1)),
      { ...insert(TableName, two.pk), Parameters: [two.pk] },
    ]);

    expect(errors.map((error) => error?.Code)).toEqual([
      undefined,
      "ResourceNotFound",
      "ValidationError",
      "ValidationError",
    ]);
    expect(await get(subject, { TableName, Key: one })).toEqual({ ...one, a: N(1) });
  }),
  shows("there are 1 to 25 statements, each about another item", BATCH, async (subject) => {
    const table = await plainTable(subject);
    const key = newKey();
    const batch = (Statements: readonly ReturnType<typeof insert>[]) =>
      subject.call("BatchExecuteStatement", { Statements });
    const inserts = (count: number) => Array.from({ length: count }, () => insert(table, newKey().pk));

    await refused(batch([]), "ValidationException");
    await refused(batch(inserts(26)), "ValidationException");
    await refused(batch([insert(table, key.pk), insert(table, key.pk, N(2))]), "ValidationException");
    await batch(inserts(25));
  }),
];
