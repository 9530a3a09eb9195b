// Messages in items of their own: how many there may be, and who marks them while somebody reads them.

import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { runOnce } from "../../lib/core/run-once.ts";
import { aroundRequests } from "../kit/faults/around-requests.ts";
import { connect } from "../kit/tables.ts";
import { messageOf, newOutboxTable, type OutboxTable } from "./outbox-given.ts";

const large = (count: number) =>
  Array.from({ length: count }, (_, index) => messageOf(`m/${index}`, 380_000));

describe.each(inject("dynamodbEngines"))("messages in separate items on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let table: OutboxTable;

  beforeAll(async () => {
    table = await newOutboxTable(client, endpoint);
  });

  it("a message accepted for its size is accepted by DynamoDB too, under the longest record key and in the most items", async () => {
    const [operation, scope] = ["#".repeat(64), `a${"\u0080".repeat(255)}`];
    const commitOf = (bytes: number) => {
      const messages = Array.from({ length: 20 }, (_, index) => messageOf(`m/${index + 10}`, bytes));
      const options = { operation, scope, store: table.store, leaseSeconds: 30 };
      return runOnce(options, randomUUID(), {}, ({ commit }) => {
        return commit("done", { messages: messages as never });
      });
    };
    // The largest that is not refused by us is taken by DynamoDB.
    let [taken, refused] = [200_000, 210_000];
    while (refused - taken > 1) {
      const bytes = Math.floor((taken + refused) / 2);
      const effects = {
        writes: [],
        messages: Array.from({ length: 20 }, (_, index) => messageOf(`m/${index + 10}`, bytes)),
      };
      try {
        table.store.checkEffects(effects);
        taken = bytes;
      } catch {
        refused = bytes;
      }
    }

    // Under such a key even this result is an item of its own, in the same transaction.
    expect(await commitOf(taken - 200)).toBe("done");
    await expect(commitOf(refused)).rejects.toMatchObject({ code: "OUTBOX_TRANSACTION_TOO_LARGE" });
  });

  it("another sender marks them when half of them is loaded: nothing is left to send", async () => {
    const { outbox, begin } = table;
    const { recordKey, finish } = await begin("optimistic", { messages: large(2) });
    await finish();
    const unsent = (await outbox.load(recordKey))!;
    let reads = 0;
    let readFirst = () => {};
    const firstIsRead = new Promise<void>((resolve) => {
      readFirst = resolve;
    });
    const stop = aroundRequests(client, async ({ command, send }) => {
      const read = command === "GetItem" ? ++reads : 0;
      // The record is read first, then both items at once.
      if (read === 3) await firstIsRead.then(() => outbox.markSent(unsent));
      const answer = await send();
      if (read === 2) readFirst();
      return answer;
    });

    const loading = outbox.load(recordKey).finally(stop);

    expect(await loading).toBeUndefined();
  });
});
