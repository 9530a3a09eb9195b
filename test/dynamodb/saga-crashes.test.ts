// A saga on real engines dies at each of its requests, and so does the attempt that goes on. In memory: test/saga.
import { randomUUID } from "node:crypto";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { fakeClock } from "onceonly/testing";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { aroundRequests } from "../kit/faults/around-requests.ts";
import { connect, createOutboxTable, createTable } from "../kit/tables.ts";
import { type Books, ENDINGS, type Life, mortal, play, playPairs } from "../saga/crashes-given.ts";
import { inTier, isFull } from "../setup/tier.ts";

const ALL = ENDINGS.flatMap(([mode, ending]) =>
  [false, true].map((atMostOnce) => ({ mode, ending, atMostOnce })),
);
/** In the short form the two that make the most requests: one turns back, one does not. */
const CHOSEN = ALL.filter(
  ({ mode, atMostOnce }) => isFull || (atMostOnce && /^(honest|undoFails)$/.test(mode)),
);

describe.each(inject("dynamodbEngines").slice(0, inTier(1, 9)))("sagas on $name", ({ endpoint }) => {
  let tableName: string;
  let orders: string;
  beforeAll(async () => {
    [tableName, orders] = [
      await createOutboxTable(connect(endpoint)),
      await createTable(connect(endpoint), "id"),
    ];
  });
  const client = connect(endpoint);
  const looking = connect(endpoint);
  let alive: Life | undefined;
  aroundRequests(client, async ({ send }) => {
    const life = alive;
    await life?.point();
    const answer = await send();
    await life?.point();
    return answer;
  });

  function onTable(life: Life): Books<DynamoDBWrite> {
    alive = life;
    const key = randomUUID();
    const Key = { id: { S: key } };
    return {
      store: new DynamoDBStore({ tableName, client }),
      key,
      clock: fakeClock(Date.now()),
      order: (open) => ({
        Put: {
          TableName: orders,
          Item: { id: key, open },
          ...(open && { ConditionExpression: "attribute_not_exists(id)" }),
        },
      }),
      isOpen: async () =>
        (await looking.send(new GetItemCommand({ TableName: orders, Key }))).Item?.open?.BOOL === true,
    };
  }

  it.each(CHOSEN)(
    "H53: if its systems are $mode, all is $ending, whatever dies at any point (charge at most once: $atMostOnce)",
    async ({ mode, ending, atMostOnce }) => {
      const playAt = (...deaths: readonly number[]) => {
        const life = mortal();
        return play(onTable(life), life, mode, atMostOnce, ...deaths);
      };
      // Each request is the first one somewhere, and most are the second one.
      const isChosen = (first: number, then: number) => isFull || then === (first * 7 + 3) % 20;
      const runs = await playPairs(playAt, { mode, atMostOnce, ending }, isChosen);
      console.log(`${mode}, at most once ${atMostOnce}: ${runs} pairs of crashes, none half done`);
      expect(runs).toBeGreaterThan(inTier(10, 200));
    },
    inTier(120_000, 1_800_000),
  );
});
