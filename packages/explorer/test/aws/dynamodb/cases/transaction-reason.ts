/** Transactions that are refused as a whole, and those of which one action is the reason. */
import { expect } from "vitest";
import type { TransactWriteItem } from "../../../../lib/aws/dynamodb/item-operations.ts";
import { api, cancelled, guide, recorded, refused, shows } from "./case.ts";
import { get, N, newKey, plainTable, putPlain, S } from "./given.ts";
import { check, countUp, nowhere, put, remove, THERE, transact } from "./transaction-given.ts";

const API = api("TransactWriteItems");

export const transactionReasonCases = [
  shows("an action is one of four, with what it needs", API, async (subject) => {
    const at = await putPlain(subject);
    const other = await putPlain(subject);

    for (const action of [{}, { ...put(at), ...remove(other) }, { ConditionCheck: at }, { Update: at }]) {
      await refused(transact(subject, [action as TransactWriteItem]), "ValidationException");
    }
  }),
  shows("a table of a transaction is there", API, async (subject) => {
    const at = { TableName: "no-such-table", Key: newKey() };

    await refused(transact(subject, [put(at)]), "ResourceNotFoundException");
  }),
  shows(
    "an expression of a transaction is well formed",
    guide("Expressions.UpdateExpressions"),
    async (subject) => {
      const at = await putPlain(subject);

      await refused(
        transact(subject, [countUp(at, { UpdateExpression: "ADD a one" })]),
        "ValidationException",
      );
      await refused(transact(subject, [check(at, "attribute_exist(pk)")]), "ValidationException");
      const more = { ExpressionAttributeValues: { ":one": N(1), ":two": N(2) } };
      await refused(transact(subject, [countUp(at, more)]), "ValidationException");
    },
  ),
  ...(
    [
      ["a path that does not exist", { UpdateExpression: "SET nope.x = :one" }],
      ["an attribute that does not exist", { UpdateExpression: "SET b = nope + :one" }],
      ["an attribute of another type", { UpdateExpression: "SET b = txt + :one" }],
      [
        "a set in place of a number",
        { UpdateExpression: "ADD a :one", ExpressionAttributeValues: { ":one": { SS: ["x"] } } },
      ],
    ] as const
  ).map(([what, more]) =>
    shows(`an update of ${what} is the reason of its action`, API, async (subject) => {
      const [at, free] = [await putPlain(subject, { a: N(1), txt: S("x") }), await nowhere(subject)];

      expect(await cancelled(transact(subject, [put(free), countUp(at, more)]))).toEqual([
        "None",
        "ValidationError",
      ]);
      expect(await get(subject, free)).toBeUndefined();
    }),
  ),
  shows(
    "the first action that does not fit its table is the only reason",
    "https://github.com/floci-io/floci/pull/3674",
    async (subject) => {
      const [at, missing] = [await putPlain(subject), await nowhere(subject)];
      const wrong = { ...at, Key: { pk: N(1) } };

      for (const misfit of [put(wrong), remove(wrong), countUp(wrong), check(wrong, THERE)]) {
        expect(await cancelled(transact(subject, [check(missing, THERE), misfit, put(wrong)]))).toEqual([
          "None",
          "ValidationError",
          "None",
        ]);
      }
    },
  ),
  shows(
    "an empty key refuses the whole transaction",
    recorded("tier3/error-messages/transactWriteItems"),
    async (subject) => {
      const empty = { TableName: await plainTable(subject), Key: { pk: S("") } };

      for (const action of [put(empty), remove(empty), countUp(empty), check(empty, THERE)]) {
        await refused(transact(subject, [action]), "ValidationException");
      }
    },
  ),
  shows(
    "a malformed expression is refused before a table is looked for",
    recorded("tier3/validation-ordering/transactions"),
    async (subject) => {
      const elsewhere = { TableName: "no-such-table", Key: newKey() };
      const at = await putPlain(subject);
      const unused = { ExpressionAttributeValues: { ":v": N(1) } };

      for (const second of [check(at, "attribute_not_exists("), check(at, THERE, unused)]) {
        await refused(transact(subject, [put(elsewhere), second]), "ValidationException");
      }
    },
  ),
  shows("a key of another type is the reason of its action", API, async (subject) => {
    const TableName = await plainTable(subject);

    expect(await cancelled(transact(subject, [put({ TableName, Key: { pk: N(1) } })]))).toEqual([
      "ValidationError",
    ]);
  }),
  shows("an update of a key is the reason of its action", API, async (subject) => {
    const at = await putPlain(subject);

    const update = countUp(at, { UpdateExpression: "SET pk = :one" });

    expect(await cancelled(transact(subject, [update]))).toEqual(["ValidationError"]);
  }),
];
