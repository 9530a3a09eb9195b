/** The tokens of TransactWriteItems, and TransactGetItems. */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { api, cancelled, guide, recorded, refused, shows } from "./case.ts";
import { get, items, M, N, newKey, putPlain, S } from "./given.ts";
import { check, countUp, type Item, nowhere, put, THERE, transact } from "./transaction-given.ts";

const API = api("TransactWriteItems");

export const tokenCases = [
  shows("a transaction with the same token is done once", API, async (subject) => {
    const at = await putPlain(subject);
    const ClientRequestToken = randomUUID();

    for (const ReturnConsumedCapacity of ["NONE", "TOTAL", "NONE"]) {
      await transact(subject, [countUp(at)], { ClientRequestToken, ReturnConsumedCapacity });
    }

    expect(await get(subject, at)).toMatchObject({ a: N(1) });
  }),
  shows("a token belongs to the request it came with", API, async (subject) => {
    const at = await putPlain(subject);
    const ClientRequestToken = randomUUID();
    await transact(subject, [countUp(at)], { ClientRequestToken });
    const more = { ExpressionAttributeValues: { ":one": N(2) } };

    await refused(
      transact(subject, [countUp(at, more)], { ClientRequestToken }),
      "IdempotentParameterMismatchException",
    );
  }),
  shows(
    "a token of a cancelled transaction may be used again",
    guide("transaction-apis"),
    async (subject) => {
      const [at, gate] = [await putPlain(subject), await nowhere(subject)];
      const ClientRequestToken = randomUUID();
      const actions = [countUp(at), check(gate, THERE)];
      await cancelled(transact(subject, actions, { ClientRequestToken }));

      await subject.call("PutItem", { TableName: gate.TableName, Item: gate.Key });
      await transact(subject, actions, { ClientRequestToken });
      await transact(subject, actions, { ClientRequestToken });

      expect(await get(subject, at)).toMatchObject({ a: N(1) });
    },
  ),
  shows("a token has at most 36 characters", API, async (subject) => {
    const ClientRequestToken = "x".repeat(37);

    await refused(
      transact(subject, [put(await nowhere(subject))], { ClientRequestToken }),
      "ValidationException",
    );
  }),
];

export const transactGetCases = [
  shows("a transaction gets items in the order of the request", api("TransactGetItems"), async (subject) => {
    const [one, two] = [
      await putPlain(subject, { a: N(1), m: M({ x: N(1), y: N(2) }) }),
      await putPlain(subject),
    ];
    const Get = { ...one, ProjectionExpression: "m.#x, nope", ExpressionAttributeNames: { "#x": "x" } };

    const { Responses } = await subject.call("TransactGetItems", {
      TransactItems: [{ Get: two }, { Get: await nowhere(subject) }, { Get }],
    });

    expect(Responses).toEqual([{ Item: two.Key }, {}, { Item: { m: M({ x: N(1) }) } }]);
  }),
  shows("a transaction gets 1 to 100 items, each once", api("TransactGetItems"), async (subject) => {
    const at = await putPlain(subject);
    const gets = (keys: readonly Item[]) =>
      subject.call("TransactGetItems", { TransactItems: keys.map((Key) => ({ Get: { ...at, Key } })) });

    await refused(gets([]), "ValidationException");
    await refused(gets([at.Key, at.Key]), "ValidationException");
    await refused(gets(Array.from({ length: 101 }, newKey)), "ValidationException");
    expect((await gets(Array.from({ length: 100 }, newKey))).Responses).toHaveLength(100);
  }),
  shows(
    "a wrong key is the reason of its get",
    recorded("tier3/error-messages/transactGetItems"),
    async (subject) => {
      const at = await putPlain(subject);
      const TransactItems = items(at.Key, { other: S("x") }).map((Key) => ({ Get: { ...at, Key } }));

      expect(await cancelled(subject.call("TransactGetItems", { TransactItems }))).toEqual([
        "None",
        "ValidationError",
      ]);
    },
  ),
  shows(
    "a projection of a transaction is well formed",
    recorded("tier3/error-messages/transactGetItems"),
    async (subject) => {
      const Get = { ...(await putPlain(subject)), ProjectionExpression: "a,,b" };

      await refused(subject.call("TransactGetItems", { TransactItems: [{ Get }] }), "ValidationException");
    },
  ),
];
