// What a client may write into a free-form body, committed by each path to DynamoDB: there as it was, or refused.
import { randomUUID } from "node:crypto";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { fingerprintOf } from "../../lib/core/fingerprint.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import type { Store } from "../../lib/core/store.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { fromItem } from "../../lib/dynamodb/values.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { LeanDynamoDB, DynamoDBStore as LeanStore } from "../../lib/lean/index.ts";
import { HOSTILE, hostileJson } from "../kit/hostile-json.ts";
import { keepsHostileJson } from "../kit/hostile-values.ts";
import { connect, createTable, environmentFor } from "../kit/tables.ts";

const credentials = { accessKeyId: "local", secretAccessKey: "local" };

describe.each(inject("dynamodbEngines"))("on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let orders: string;
  let tableName: string;

  beforeAll(async () => {
    [tableName, orders] = await Promise.all([createTable(client), createTable(client, "id")]);
    for (const [name, value] of Object.entries(environmentFor(endpoint))) vi.stubEnv(name, value);
  });

  afterAll(() => void vi.unstubAllEnvs());

  const stores: Readonly<Record<string, () => Store<DynamoDBWrite>>> = {
    "by a client of the SDK": () => new DynamoDBStore({ tableName, client }),
    "by the store's own client": () => new DynamoDBStore({ tableName }),
    "by the lean client": () =>
      new LeanStore({ tableName, client: new LeanDynamoDB({ region: "local", endpoint, credentials }) }),
  };

  describe.each(Object.keys(stores))("%s", (by) => {
    /** The stored item, or the code of the refusal. */
    async function committed(value: unknown): Promise<Record<string, unknown> | string> {
      const [id, updated] = [randomUUID(), randomUUID()];
      const writes: DynamoDBWrite[] = [
        { Put: { TableName: orders, Item: { id, value } } },
        {
          Update: {
            TableName: orders,
            Key: { id: updated },
            UpdateExpression: "SET #value = :value",
            ExpressionAttributeNames: { "#value": "value" },
            ExpressionAttributeValues: { ":value": value },
          },
        },
      ];
      const store = stores[by]!();
      try {
        await runOnce({ operation: "op", store, leaseSeconds: 30 }, id, "payload", ({ commit }) =>
          commit("done", { writes }),
        );
      } catch (error) {
        expect(await itemOf(id)).toBeUndefined();
        return `${(error as { code?: string }).code}`;
      }
      const [put, update] = [await itemOf(id), await itemOf(updated)];
      expect(update?.value).toEqual(put?.value);
      return put as Record<string, unknown>;
    }

    async function itemOf(id: string) {
      const key = { TableName: orders, Key: { id: { S: id } }, ConsistentRead: true };
      const { Item } = await client.send(new GetItemCommand(key));
      return Item && fromItem(Item);
    }

    async function isExactOrRefused(value: unknown): Promise<void> {
      const stored = await committed(value);
      if (typeof stored === "string") {
        expect(stored).toBe("COMMIT_INVALID");
        expect(JSON.stringify(value)).toMatch(/"__proto__":|\\ud800|"":/);
      } else expect(fingerprintOf(stored.value)).toBe(fingerprintOf(value));
    }

    it("H85: A5: a commit stores hostile JSON exactly, or refuses it before the write", async () => {
      await Promise.all(HOSTILE.map(isExactOrRefused));
      await fc.assert(fc.asyncProperty(hostileJson, isExactOrRefused), { numRuns: 40 });
    });

    it("H85: A5: results, results of steps and errors are kept exactly", async () => {
      await keepsHostileJson(stores[by]!(), 10);
    });

    it.each([
      ["an ArrayBuffer", Uint8Array.of(1, 2).buffer],
      ["a DataView", new DataView(Uint8Array.of(0, 1, 2, 0).buffer, 1, 2)],
      ["a Buffer", Buffer.from([1, 2])],
      ["a Uint16Array", Uint16Array.of(0x0201)],
    ])("D6: a commit stores the bytes of %s", async (_, value) => {
      const bytes = new Uint8Array([1, 2]);
      const stored = (await committed({ value, all: [value], set: new Set([value]) })) as { value: unknown };

      expect(stored.value).toEqual({ value: bytes, all: [bytes], set: new Set([bytes]) });
    });

    it("D6: a commit refuses a Blob by its name", async () => {
      expect(await committed(new Blob(["a"]))).toBe("COMMIT_INVALID");
    });

    it.each([33, 40, 45, 3000, 100_000])(
      "H85: A5: a body of %i levels is stored, or refused as a wrong commit",
      async (levels) => {
        const stored = await committed(JSON.parse("[".repeat(levels) + "]".repeat(levels)));

        if (typeof stored === "string") expect(stored).toBe("COMMIT_INVALID");
        else expect(levels).toBeLessThan(41);
      },
    );
  });
});
