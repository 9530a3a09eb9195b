// Requests of which the SDK sees no answer, and which arrive late all the same: the SDK's own retry is decided first.

import { randomUUID } from "node:crypto";
import { type DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { beforeEach, describe, expect, inject, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import { type RunOnceOptions, runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { aroundRequests } from "../kit/faults/around-requests.ts";
import { loseAnswers, lostAnswer } from "../kit/faults/faulty-client.ts";
import { connect, createTable } from "../kit/tables.ts";

/** The next request of a command is held up below the SDK's retries; it arrives when the answer of this is called. */
function holdUp(client: DynamoDBClient, command: string): () => Promise<void> {
  let arrive: (() => Promise<unknown>) | undefined;
  const stop = aroundRequests(
    client,
    (asked) => {
      if (asked.command !== command || arrive) return asked.send();
      arrive = asked.send;
      return Promise.reject(lostAnswer());
    },
    { at: "wire" },
  );
  return async () => {
    stop();
    if (!arrive) throw new Error(`no ${command} was held up`);
    await arrive().catch(() => {});
  };
}

describe.each(inject("everyDynamodbEngine"))(
  "answers 0, 7, 8 and 19: a late copy on $name",
  ({ endpoint }) => {
    let client: DynamoDBClient;
    let tableName: string;
    let accounts: string;
    let store: DynamoDBStore;
    let options: RunOnceOptions<DynamoDBWrite>;

    beforeEach(async () => {
      client = connect(endpoint);
      tableName = await createTable(client);
      accounts = await createTable(client);
      store = new DynamoDBStore({ tableName, client });
      options = { operation: "open", store, leaseSeconds: 30, shouldStore: (answer) => answer !== 409 };
    });

    const account = async (pk: string) =>
      (await client.send(new GetItemCommand({ TableName: accounts, Key: marshall({ pk }) }))).Item;
    const open = (pk: string): DynamoDBWrite => ({
      Update: {
        TableName: accounts,
        Key: { pk },
        UpdateExpression: "SET opened = :yes",
        ConditionExpression: "attribute_exists(invited)",
        ExpressionAttributeValues: { ":yes": true },
      },
    });
    const invite = (pk: string) =>
      client.send(new PutItemCommand({ TableName: accounts, Item: marshall({ pk, invited: true }) }));

    it("H8: of a claim, after its release, does not lock the key", async () => {
      const key = randomUUID();
      const arrive = holdUp(client, "PutItem");
      const failed = runOnce(options, key, {}, () => Promise.reject(new Error("invalid")));
      await expect(failed).rejects.toThrow("invalid");

      await arrive();

      const record = await store.find(identify("open", "", key).recordKey, { consistent: true });
      expect(record).toMatchObject({ state: "released", attempt: 1 });
      expect(await runOnce(options, key, { mended: true }, ({ attempt }) => attempt)).toBe(2);
    });

    it.each(["claimed", "optimistic"] as const)(
      "H8: of a commit that its own condition refused, is never written (%s)",
      async (mode) => {
        const key = randomUUID();
        const arrive = holdUp(client, "TransactWriteItems");
        const answer = await runOnce<number, DynamoDBWrite>({ ...options, mode }, key, {}, ({ commit }) =>
          commit(201, { writes: [open(key)] }).catch(() => 409),
        );
        expect(answer).toBe(409);
        await invite(key);

        await arrive();

        expect((await account(key))?.opened).toBeUndefined();
        const again = () =>
          runOnce<number, DynamoDBWrite>({ ...options, mode }, key, {}, ({ commit }) =>
            commit(201, { writes: [open(key)] }),
          );
        expect([await again(), await again()]).toEqual([201, 201]);
        expect((await account(key))?.opened?.BOOL).toBe(true);
      },
    );

    it.each(["claimed", "optimistic"] as const)(
      "H8: a commit whose responses are lost is reported as done, even if its condition no longer holds (%s)",
      async (mode) => {
        const key = randomUUID();
        const write: DynamoDBWrite = {
          Put: { TableName: accounts, Item: { pk: key }, ConditionExpression: "attribute_not_exists(pk)" },
        };
        const answer = await runOnce<number, DynamoDBWrite>({ ...options, mode }, key, {}, ({ commit }) => {
          loseAnswers(client, 2);
          return commit(201, { writes: [write] }).catch(() => 409);
        });

        expect(answer).toBe(201);
      },
    );

    it.each([true, false])(
      "an optimistic handler that finds its own row answers the retry as the first call (lookFirst: %s)",
      async (lookFirst) => {
        const key = randomUUID();
        const create = () =>
          runOnce<number, DynamoDBWrite>(
            { ...options, mode: "optimistic", lookFirst },
            key,
            {},
            async ({ commit }) => {
              if (await account(key)) return 409;
              return commit(201, { writes: [{ Put: { TableName: accounts, Item: { pk: key } } }] });
            },
          );

        expect([await create(), await create()]).toEqual([201, 201]);
        expect(await Promise.all([create(), create()])).toEqual([201, 201]);
      },
    );

    it("a late worker that fails answers with the winner's result", async () => {
      const key = randomUUID();
      const { recordKey } = identify("open", "", key);
      const short = { ...options, leaseSeconds: 300 };

      const late = await runOnce<unknown, DynamoDBWrite>(short, key, {}, async () => {
        const seen = await store.find(recordKey, { consistent: true });
        const end = {
          state: "completed",
          result: '"winner"',
          writes: [],
          messages: [],
          now: Date.now(),
        } as const;
        const names = { recordKey, token: "winner", fingerprint: String(seen?.fingerprint) };
        const begin = { attempt: 2, createdAt: Date.now(), keepsSteps: true };
        const expiresAt = Math.ceil(Date.now() / 1000) + 60;
        await store.insert({ ...names, ...begin, ...end, expiresAt }, seen);
        throw new Error("late");
      });

      expect(late).toBe("winner");
    });

    it.each(["token", "attempt"])(
      "H46: a record without its %s fails closed and never runs",
      async (name) => {
        const key = randomUUID();
        const { recordKey } = identify("open", "", key);
        await runOnce(options, key, {}, () => Promise.reject(new Error("again"))).catch(() => {});
        const TableName = tableName;
        const Key = marshall({ pk: recordKey });
        const { Item } = await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
        const { [name]: _, ...rest } = Item ?? {};
        await client.send(new PutItemCommand({ TableName, Item: rest }));

        for (const mode of ["claimed", "optimistic"] as const) {
          const run = runOnce({ ...options, mode }, key, {}, () => expect.unreachable());
          await expect(run).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
        }
      },
    );
  },
);
