import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { CommitInvalidError, runOnce } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { describe, expect, inject, it } from "vitest";
import { countRequests } from "../kit/counting-client.ts";
import { connect, createTable } from "../kit/tables.ts";
import { messageOf } from "./outbox-given.ts";

describe.each(inject("dynamodbEngines"))("a store whose table has no outbox, on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  const counts = countRequests(client);

  it.each([
    ["claimed", false],
    ["optimistic", false],
    // As UseIdempotency puts it into the environment.
    ["claimed", "none"],
  ] as const)(
    "rejects messages before any write of the commit, and accepts a commit without them, %s, reported %s",
    async (mode, outbox) => {
      const tableName = await createTable(client);
      const store = new DynamoDBStore({ tableName, client, outbox });
      let requests = 0;

      const answer = await runOnce(
        { operation: "order", store, mode, leaseSeconds: 30 },
        mode,
        {},
        async ({ commit }) => {
          counts.reset();
          const refused = () => commit("done", { messages: [messageOf("order-7/paid")] });
          expect(refused).toThrow(CommitInvalidError);
          expect(refused).toThrow("no outbox");
          requests = counts.requests;
          return commit("done", { messages: [] });
        },
      );

      expect([answer, requests]).toEqual(["done", 0]);
    },
  );

  it("divides commits into as many shards as configured, as a number or as a string", async () => {
    const tableName = await createTable(client);
    for (const outbox of [{ shards: 1 }, "1"]) {
      const store = new DynamoDBStore({ tableName, client, outbox });
      const shards = new Set<unknown>();
      for (const key of ["a", "b", "c"]) {
        await runOnce(
          { operation: "order", store, leaseSeconds: 30 },
          key + JSON.stringify(outbox),
          {},
          ({ commit }) => commit(1, { messages: [messageOf(key)] }),
        );
      }
      const { Items = [] } = await client.send(new ScanCommand({ TableName: tableName }));
      for (const { unsentShard } of Items) shards.add(unsentShard?.N);
      expect([...shards]).toEqual(["0"]);
    }
  });

  it("with an outbox it accepts them, declared or not", async () => {
    const tableName = await createTable(client);
    for (const outbox of [undefined, true, { shards: 16 }, "8"] as const) {
      const store = new DynamoDBStore({ tableName, client, ...(outbox !== undefined && { outbox }) });
      const messages = [messageOf("order-7/paid")];

      const key = `order ${JSON.stringify(outbox ?? "absent")}`;

      expect(
        await runOnce({ operation: "order", store, leaseSeconds: 30 }, key, {}, ({ commit }) =>
          commit(1, { messages }),
        ),
      ).toBe(1);
    }
  });
});
