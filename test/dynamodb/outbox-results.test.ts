// A result in an item of its own, of a commit whose messages wait: it is there for as long as its record is.
import { createHash, randomUUID } from "node:crypto";
import { DeleteItemCommand, paginateScan } from "@aws-sdk/client-dynamodb";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { runOnce } from "../../lib/core/run-once.ts";
import { countRequests } from "../kit/counting-client.ts";
import { connect } from "../kit/tables.ts";
import { MODES, type Mode, messageOf, newOutboxTable, type OutboxTable } from "./outbox-given.ts";

/** Text that does not become small enough for a record. */
const RESULT = Array.from({ length: 100 }, (_, index) =>
  createHash("sha512").update(`${index}`).digest("base64url"),
).join("");

const SECOND = 1000;
const DAY = 86_400 * SECOND;

describe.each(inject("dynamodbEngines"))(
  "answers 9: large results of commits with messages on $name",
  ({ endpoint }) => {
    const client = connect(endpoint);
    let table: OutboxTable;
    let counts: ReturnType<typeof countRequests>;

    beforeAll(async () => {
      table = await newOutboxTable(client, endpoint);
      counts = countRequests(client);
    });

    const commit = async (mode: Mode, messages = [messageOf("order-7/created")], result = RESULT) => {
      const options = {
        operation: "op",
        store: table.store,
        leaseSeconds: 30,
        retentionSeconds: 86_400,
        mode,
      };
      const key = randomUUID();
      let time = Date.now();
      const wait = (ms: number) => {
        time += ms;
      };
      const clock = { now: () => time, sleep: async () => {} };
      const run = () =>
        runOnce({ ...options, clock }, key, {}, (execution) =>
          execution.commit(result, { messages: messages as never }),
        );
      expect(await run()).toBe(result);
      const { recordKey } = (await readAll()).find(({ item }) => item.createdAt?.N === `${time}`) as Found;
      return { run, recordKey, wait, now: () => time };
    };

    interface Found {
      readonly recordKey: string;
      readonly item: Record<string, { readonly S?: string; readonly N?: string }>;
    }

    async function readAll(): Promise<Found[]> {
      const found: Found[] = [];
      for await (const { Items = [] } of paginateScan({ client }, { TableName: table.tableName })) {
        found.push(...Items.map((item) => ({ recordKey: `${item.pk?.S}`, item: item as Found["item"] })));
      }
      return found;
    }

    /** What TTL does, which engines on one's desk leave undone. */
    async function deleteExpired(now: number): Promise<void> {
      for (const { item } of await readAll()) {
        if (item.expiresAt === undefined || Number(item.expiresAt.N) * 1000 > now) continue;
        await client.send(
          new DeleteItemCommand({ TableName: table.tableName, Key: { pk: item.pk as never } }),
        );
      }
    }

    it.each(MODES)("a retry far beyond the retention replays while a message waits, %s", async (mode) => {
      const { run, wait, now } = await commit(mode);

      wait(30 * DAY);
      await deleteExpired(now());

      expect(await run()).toBe(RESULT);
    });

    it.each(MODES)("once they are sent, record and result have the same expiry, %s", async (mode) => {
      for (const messages of [[messageOf("1")], [messageOf("1", 300_000), messageOf("2", 300_000)]]) {
        const { run, recordKey, wait, now } = await commit(mode, messages);

        await table.outbox.markSent((await table.outbox.load(recordKey))!);

        const left = (await readAll()).filter((each) => each.recordKey.startsWith(recordKey));
        expect(left.map(({ item }) => item.expiresAt?.N)).toEqual(Array(2).fill(left[0]?.item.expiresAt?.N));
        expect(Number(left[0]?.item.expiresAt?.N)).toBeGreaterThan(now() / SECOND);
        expect(await run()).toBe(RESULT);
        wait(2 * DAY);
        await deleteExpired(now());
        expect((await readAll()).filter((each) => each.recordKey.startsWith(recordKey))).toEqual([]);
      }
    });

    it("a commit and its mark stay one request each", async () => {
      counts.reset();
      const { recordKey } = await commit("optimistic");
      expect(counts.commands.filter((command) => /Put|Transact|Update/.test(command))).toEqual([
        "TransactWriteItems",
      ]);
      const unsent = (await table.outbox.load(recordKey))!;
      counts.reset();

      await table.outbox.markSent(unsent);
      await table.outbox.markSent(unsent);

      expect(counts.commands).toEqual(["TransactWriteItems", "TransactWriteItems"]);
    });

    it("a commit that is refused leaves no result that would never be deleted", async () => {
      const { finish, recordKey } = await table.begin("claimed", { result: JSON.stringify(RESULT) });
      await client.send(new DeleteItemCommand({ TableName: table.tableName, Key: { pk: { S: recordKey } } }));

      expect(await finish()).toMatchObject({ settled: false });

      expect(await table.itemKeys(recordKey)).toEqual([]);
    });

    it("a result that never expires, and a previous version's that is gone, don't prevent a mark", async () => {
      const { outbox, begin, itemKeys } = table;
      for (const expiresAt of [undefined, 1_900_000_060]) {
        const { finish, recordKey } = await begin("claimed", {
          expiresAt: expiresAt as never,
          result: RESULT,
        });
        await finish();
        const unsent = (await outbox.load(recordKey))!;
        const [pk = ""] = (await itemKeys(recordKey)).filter((key) => key !== recordKey);
        if (expiresAt) {
          await client.send(new DeleteItemCommand({ TableName: table.tableName, Key: { pk: { S: pk } } }));
        }

        await outbox.markSent(unsent);

        expect(await outbox.load(recordKey)).toBeUndefined();
        const left = await table.read(pk);
        expect(left?.expiresAt).toBe(expiresAt);
      }
    });
  },
);
