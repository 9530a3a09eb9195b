/** PutItem, UpdateItem and DeleteItem, and what they return. */
import { expect } from "vitest";
import { api, dynalite, recorded, refused, shows } from "./case.ts";
import { get, L, M, N, newKey, plainTable, putPlain, S, SS } from "./given.ts";

export const writeCases = [
  shows("a put replaces the whole item", api("PutItem"), async (subject) => {
    const at = await putPlain(subject, { a: N(1) });

    await subject.call("PutItem", { TableName: at.TableName, Item: { ...at.Key, b: N(2) } });

    expect(await get(subject, at)).toEqual({ ...at.Key, b: N(2) });
  }),
  shows("a put returns what it replaced where it is asked to", api("PutItem"), async (subject) => {
    const at = await putPlain(subject, { a: N(1) });
    const put = (ReturnValues: string) =>
      subject.call("PutItem", { TableName: at.TableName, Item: { ...at.Key, a: N(2) }, ReturnValues });

    expect(await put("ALL_OLD")).toEqual({ Attributes: { ...at.Key, a: N(1) } });
    expect(await put("NONE")).toEqual({});
    for (const values of ["ALL_NEW", "UPDATED_OLD", "UPDATED_NEW", "OTHER"]) {
      await refused(put(values), "ValidationException");
    }
  }),
  shows("a put and a delete of nothing return nothing", recorded("tier1/putItem/basic"), async (subject) => {
    const TableName = await plainTable(subject);

    expect(await subject.call("PutItem", { TableName, Item: newKey(), ReturnValues: "ALL_OLD" })).toEqual({});
    expect(await subject.call("DeleteItem", { TableName, Key: newKey(), ReturnValues: "ALL_OLD" })).toEqual(
      {},
    );
  }),
  shows("a delete returns what it deleted where it is asked to", api("DeleteItem"), async (subject) => {
    const at = await putPlain(subject, { a: N(1) });

    await refused(subject.call("DeleteItem", { ...at, ReturnValues: "ALL_NEW" }), "ValidationException");
    expect(await subject.call("DeleteItem", { ...at, ReturnValues: "ALL_OLD" })).toEqual({
      Attributes: { ...at.Key, a: N(1) },
    });
    expect(await get(subject, at)).toBeUndefined();
  }),
  shows("an update creates an item that is not there", api("UpdateItem"), async (subject) => {
    const at = { TableName: await plainTable(subject), Key: newKey() };

    const answer = await subject.call("UpdateItem", {
      ...at,
      UpdateExpression: "SET a = if_not_exists(a, :v) ADD b :v",
      ExpressionAttributeValues: { ":v": N(1) },
      ReturnValues: "ALL_NEW",
    });

    expect(answer.Attributes).toEqual({ ...at.Key, a: N(1), b: N(1) });
  }),
  ...[undefined, "REMOVE a", "DELETE a :v"].map((UpdateExpression) =>
    shows(
      `the update ${UpdateExpression ?? "of nothing"} creates an item with nothing but its key`,
      dynalite("updateItem"),
      async (subject) => {
        const at = { TableName: await plainTable(subject), Key: newKey() };

        await subject.call("UpdateItem", {
          ...at,
          UpdateExpression,
          ...(UpdateExpression?.includes(":v") && { ExpressionAttributeValues: { ":v": SS("x") } }),
        });

        expect(await get(subject, at)).toEqual(at.Key);
      },
    ),
  ),
  shows("an update of a missing item has no old attributes", api("UpdateItem"), async (subject) => {
    const at = { TableName: await plainTable(subject), Key: newKey() };

    expect(await subject.call("UpdateItem", { ...at, ReturnValues: "ALL_OLD" })).toEqual({});
  }),
];

const RETURNED = {
  n: N(5),
  str: S("x"),
  obj: M({ x: N(1), y: N(2) }),
  arr: L(N(1), N(2), N(3)),
  strs: SS("a"),
};

function returns(
  ReturnValues: string,
  UpdateExpression: string,
  expected: Parameters<typeof M>[0] | undefined,
  source = api("UpdateItem"),
) {
  return shows(
    `the update ${UpdateExpression} returns as ${ReturnValues} what that says`,
    source,
    async (subject) => {
      const at = await putPlain(subject, RETURNED);
      const values = { ":v": N(9), ":s": SS("a") };
      const used = Object.entries(values).filter(([name]) => UpdateExpression.includes(name));

      const answer = await subject.call("UpdateItem", {
        ...at,
        UpdateExpression,
        ...(used.length > 0 && { ExpressionAttributeValues: Object.fromEntries(used) }),
        ReturnValues,
      });

      const whole = ReturnValues.startsWith("ALL_") ? at.Key : {};
      expect(answer.Attributes).toEqual(expected && { ...whole, ...expected });
    },
  );
}

export const returnValueCases = [
  returns("NONE", "SET n = :v", undefined),
  returns("ALL_OLD", "SET n = :v", RETURNED),
  returns("ALL_NEW", "SET n = :v", { ...RETURNED, n: N(9) }),
  returns("UPDATED_OLD", "SET n = :v, a = :v", { n: N(5) }),
  returns("UPDATED_NEW", "SET n = :v, a = :v", { n: N(9), a: N(9) }),
  returns("UPDATED_OLD", "SET a = :v", undefined),
  returns("UPDATED_NEW", "REMOVE n", undefined),
  returns("UPDATED_OLD", "REMOVE n", { n: N(5) }),
  returns("UPDATED_NEW", "REMOVE n SET str = :v", { str: N(9) }),
  returns("UPDATED_NEW", "SET n = n", { n: N(5) }),
  returns("UPDATED_NEW", "REMOVE nope", undefined),
  returns("UPDATED_OLD", "DELETE strs :s", { strs: SS("a") }),
  returns("UPDATED_NEW", "DELETE strs :s", undefined),
  returns("UPDATED_OLD", "SET obj.x = :v", { obj: M({ x: N(1) }) }, dynalite("updateItem")),
  returns(
    "UPDATED_NEW",
    "SET obj.x = :v, obj.z = :v",
    { obj: M({ x: N(9), z: N(9) }) },
    dynalite("updateItem"),
  ),
  returns("UPDATED_NEW", "SET arr[2] = :v, arr[0] = :v", { arr: L(N(9), N(9)) }, dynalite("updateItem")),
];
