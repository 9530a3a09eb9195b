// The page about a table that lacks indexes: it says which, and the rest is there.
import { randomUUID } from "node:crypto";
import { runOnce } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { OUTBOX_INDEX } from "../../../../lib/contract.ts";
import { systemClock } from "../../../../lib/core/clock.ts";
import { connect, createOutboxTable, createTable } from "../../../../test/kit/tables.ts";
import { tableSource } from "../../lib/console/table-source.ts";
import { openTable } from "../../lib/table.ts";

const { endpoint } = inject("dynamodbEngines")[0]!;
const QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/payments";

async function consoleOf(name: string) {
  const table = await openTable({ table: name, endpoint });
  return { table, source: tableSource({ table, name, clock: systemClock }) };
}

describe("the console of a table", () => {
  let client: ReturnType<typeof connect>;
  beforeAll(() => {
    client = connect(endpoint, { region: "us-east-1" });
  });

  it("shows the outbox if the table lists no unknown outcomes, and reports that", async () => {
    const name = await createOutboxTable(client, "pk", undefined, [OUTBOX_INDEX]);
    const { source, table } = await consoleOf(name);
    const store = new DynamoDBStore({ tableName: name, client });
    await runOnce({ operation: "order", store, leaseSeconds: 30 }, "order-7", {}, ({ commit }) =>
      commit("done", { messages: [{ queue: QUEUE, key: "order-7", body: {} }] }),
    );

    const { problems, outbox, groups } = await source.look();

    expect(problems).toEqual([expect.stringMatching(/^Can't list what is unknown: .*index unsettled/)]);
    expect(outbox).toEqual({ waiting: 1, parked: 0 });
    expect(groups).toMatchObject([{ list: "waiting", operation: "order" }]);
    const act = { act: "drop", group: groups[0]!.id, by: "ops", why: "nobody needs it" };
    expect(await source.act(act)).toMatchObject({ done: true });
    table.close();
  });

  it("finds a key if the table has no index at all", async () => {
    const name = await createTable(client);
    const { source, table } = await consoleOf(name);
    const store = new DynamoDBStore({ tableName: name, client });
    await runOnce({ operation: "order", store, leaseSeconds: 30 }, "order-7", {}, () => "done");

    const { problems } = await source.look();
    const { keyHash } = await source.find({ operation: "order", scope: "", key: "order-7" });

    expect(problems).toHaveLength(3);
    expect(await source.lifeOf(keyHash)).toMatchObject({ state: "completed" });
    table.close();
  });

  it("rejects a table that doesn't exist", async () => {
    const { source, table } = await consoleOf(`none-${randomUUID()}`);

    await expect(source.look()).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("ResourceNotFoundException"),
    });
    table.close();
  });
});
