import { randomUUID } from "node:crypto";
import type { TransactWriteItemsCommandInput } from "@aws-sdk/client-dynamodb";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { type RunOnceOptions, runOnce } from "../../lib/core/run-once.ts";
import type { Settlement } from "../../lib/core/store.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { aroundRequests } from "../kit/faults/around-requests.ts";
import { loseAnswers } from "../kit/faults/faulty-client.ts";
import { connect, createTable } from "../kit/tables.ts";
import { claimOf } from "./given.ts";

const NOW = 1_900_000_000_000;

describe.each(inject("everyDynamodbEngine"))(
  "DynamoDBStore on $name, when answers get lost",
  ({ endpoint }) => {
    // One try more than answers get lost, so that the SDK itself repeats.
    const client = connect(endpoint, { maxAttempts: 4 });
    const requestTokens: (string | undefined)[] = [];
    let store: DynamoDBStore;
    let options: RunOnceOptions<DynamoDBWrite>;
    let counters: string;

    beforeAll(async () => {
      counters = await createTable(client, "id");
      store = new DynamoDBStore({ tableName: await createTable(client), client });
      options = { operation: "count", store, leaseSeconds: 30 };
      aroundRequests(client, ({ command, input, send }) => {
        const { ClientRequestToken } = input as TransactWriteItemsCommandInput;
        if (command === "TransactWriteItems") requestTokens.push(ClientRequestToken);
        return send();
      });
    });

    const insertCounter = (id: string): DynamoDBWrite => ({
      Put: { TableName: counters, Item: { id }, ConditionExpression: "attribute_not_exists(id)" },
    });

    const claimed = async (
      change: Partial<Settlement<DynamoDBWrite>> = {},
    ): Promise<Settlement<DynamoDBWrite>> => {
      const settlement = {
        recordKey: `count##${randomUUID()}`,
        token: randomUUID(),
        now: NOW,
        state: "completed",
        result: '"mine"',
        expiresAt: NOW / 1000 + 60,
        writes: [insertCounter(randomUUID())],
        messages: [],
        ...change,
      } as const;
      const claim = claimOf(settlement.token, { recordKey: settlement.recordKey });
      expect(await store.claim(claim)).toMatchObject({ won: true });
      return settlement;
    };

    for (const times of [1, 2, 3]) {
      it(`H8: wins its own claim although the answer got lost ${times} times, and runs once`, async () => {
        const key = randomUUID();
        let runs = 0;
        const work = () => `run ${++runs}`;
        loseAnswers(client, times);

        expect(await runOnce(options, key, {}, work)).toBe("run 1");
        expect(await runOnce(options, key, {}, work)).toBe("run 1");
      });

      it(`H8: completes once although the answer got lost ${times} times`, async () => {
        const key = randomUUID();
        const result = await runOnce(options, key, {}, () => {
          loseAnswers(client, times);
          return "done";
        });

        expect(result).toBe("done");
        expect(await runOnce(options, key, {}, () => expect.unreachable())).toBe("done");
      });

      it(`H8: releases once although the answer got lost ${times} times, and the retry runs`, async () => {
        const key = randomUUID();
        const failing = runOnce(options, key, {}, () => {
          loseAnswers(client, times);
          throw new Error("out of stock");
        });

        await expect(failing).rejects.toThrow("out of stock");
        expect(await runOnce(options, key, {}, ({ attempt }) => attempt)).toBe(2);
      });

      for (const mode of ["claimed", "optimistic"] as const) {
        it(`H9: commits once in ${mode} mode although the answer got lost ${times} times`, async () => {
          const key = randomUUID();
          const commit = () =>
            runOnce({ ...options, mode }, key, {}, async (execution) => {
              loseAnswers(client, times);
              // A second application would be refused by the condition of this write.
              return execution.commit("committed", { writes: [insertCounter(key)] });
            });

          expect(await commit()).toBe("committed");
          expect(await commit()).toBe("committed");
        });
      }

      it(`H8: resets an expired record once although the answer got lost ${times} times`, async () => {
        const settlement = await claimed({ writes: [] });
        await store.settle(settlement);
        const expired = await store.find(settlement.recordKey, { consistent: true });
        const now = NOW + 120_000;
        const claim = claimOf(randomUUID(), {
          recordKey: settlement.recordKey,
          attempt: 2,
          leaseEndsAt: now + 30_000,
        });
        loseAnswers(client, times);

        const answer = await store.claim({ ...claim, expiresAt: now / 1000 + 60 }, expired);

        // The engine reads a record of its own token as a claim that was won.
        expect(answer).toMatchObject({
          won: false,
          record: { token: claim.token, attempt: 2, state: "in-progress" },
        });
      });
    }

    it("H8: reports that it does not know when every response got lost, and the same request again knows", async () => {
      const settlement = await claimed();
      loseAnswers(client, 4);

      await expect(store.settle(settlement)).rejects.toMatchObject({ failure: "unreachable" });

      expect(await store.settle(settlement)).toEqual({ settled: true });
    });

    it("H9: re-issues a commit under the same request token, and another commit under another", async () => {
      const settlement = await claimed();
      const other = { ...settlement, writes: [insertCounter(randomUUID())] };
      requestTokens.length = 0;

      await store.settle(settlement);
      await store.settle(structuredClone(settlement));
      await store.settle(other);

      expect(requestTokens[0]).toMatch(/^[\w-]{36}$/);
      expect(requestTokens[1]).toBe(requestTokens[0]);
      expect(requestTokens[2]).not.toBe(requestTokens[0]);
    });

    it("H10: a commit that is re-issued under a new or a forgotten request token counts as settled and applies nothing", async () => {
      const settlement = await claimed();
      await store.settle(settlement);
      // What the engine remembers of the first request is of no use under another token.
      const stop = aroundRequests(client, ({ input, send }) => {
        const { ClientRequestToken } = input as TransactWriteItemsCommandInput;
        return send(ClientRequestToken ? { ...input, ClientRequestToken: randomUUID() } : input);
      });

      expect(await store.settle(settlement)).toEqual({ settled: true });
      stop();
    });
  },
);
