// Two sweepers of one outbox at the same time, on DynamoDB and on PostgreSQL: what they send, and what they cost together.
import { randomUUID } from "node:crypto";
import { runOnce, type Store } from "onceonly";
import { DynamoDBOutbox, DynamoDBStore } from "onceonly/dynamodb";
import { type Outbox, type OutboxSweeperOptions, outboxSweeper } from "onceonly/messaging";
import { fromPg, PostgresOutbox } from "onceonly/postgres";
import { fakeClock } from "onceonly/testing";
import { describe, expect, inject, it } from "vitest";
import { countRequests } from "../kit/counting-client.ts";
import { connect, createOutboxTable } from "../kit/tables.ts";
import { timeless } from "../kit/time/timeless.ts";
import { withOutbox } from "../kit/with-outbox.ts";
import { hasServer, poolOf, portOf, storeOf } from "../postgres/given.ts";

const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments";
const COMMITS = 100;
const LINES = { "a group for each commit": COMMITS, "three groups": 3 };
const NOTHING = { sent: 0, failed: 0, waiting: 0 };

interface Shop {
  readonly store: Store<never>;
  readonly outbox: Outbox;
  /** What the database was asked for since the last call. */
  readonly cost: () => { readonly requests: number; readonly writeUnits: number };
}

async function onDynamoDB(endpoint: string): Promise<Shop> {
  const client = connect(endpoint);
  const tableName = await createOutboxTable(client);
  const counts = countRequests(client);
  return {
    store: new DynamoDBStore({ tableName, client }) as unknown as Store<never>,
    outbox: new DynamoDBOutbox({ tableName, client }),
    cost: () => {
      const { requests, writeUnits } = counts;
      counts.reset();
      return { requests, writeUnits };
    },
  };
}

async function onPostgres(): Promise<Shop> {
  const client = fromPg(poolOf(await portOf()));
  const { store, table } = await storeOf(client);
  const counts = { requests: 0, writeUnits: 0 };
  const counting = {
    ...client,
    query: (text: string, values: Parameters<typeof client.query>[1]) => {
      counts.requests++;
      if (/^(UPDATE|INSERT|WITH)/.test(text)) counts.writeUnits++;
      return client.query(text, values);
    },
  };
  return {
    store: store as unknown as Store<never>,
    outbox: new PostgresOutbox({ client: counting as typeof client, table }),
    cost: () => {
      const counted = { ...counts };
      Object.assign(counts, { requests: 0, writeUnits: 0 });
      return counted;
    },
  };
}

/** A shop with commits that are due, a queue that notes what it gets, and sweepers of it. */
async function newSweeps({ store, outbox, cost }: Shop, groups: number) {
  const clock = fakeClock();
  const got: string[] = [];
  const sqs = {
    config: {},
    async send({ input }: { input: { Entries?: { Id: string; MessageBody: string }[] } }) {
      // A request takes a moment, so that the sweepers meet.
      await new Promise(setImmediate);
      got.push(...(input.Entries ?? []).map(({ MessageBody }) => MessageBody));
      return { Successful: input.Entries?.map(({ Id }) => ({ Id, MessageId: randomUUID() })) };
    },
  };
  const order = async (count: number) => {
    for (let number = 0; number < count; number++) {
      const key = randomUUID();
      const messages = [{ queue: QUEUE, key, group: `group ${number % groups}`, body: key }];
      await runOnce({ operation: "order", store, leaseSeconds: 30, clock }, key, {}, ({ commit }) =>
        commit("done", { messages }),
      );
      await clock.advance(1);
    }
    await clock.advance(61_000);
    cost();
  };
  const sweeper = (changes: Partial<OutboxSweeperOptions> = {}) =>
    outboxSweeper({
      outbox,
      destinations: "any",
      sqs,
      clock: timeless(clock),
      observe: () => {},
      ...changes,
    });
  return { clock, got, order, sweeper, cost, outbox };
}

const places: [string, (() => Promise<Shop>) | undefined][] = [
  ...inject("dynamodbEngines").map(({ name, endpoint }): [string, () => Promise<Shop>] => [
    name,
    () => onDynamoDB(endpoint),
  ]),
  ["PostgreSQL", hasServer ? onPostgres : undefined],
];

describe.each(places)("two sweepers on %s", (_, newShop) => {
  it.skipIf(!newShop).for(Object.entries(LINES))(
    "H98: N4: %s: two at the same time cost at most 1.1 times as much as one, and send each message once",
    async ([, groups]) => {
      const shop = await newSweeps(await newShop!(), groups);
      await shop.order(COMMITS);
      expect(await shop.sweeper()()).toEqual({ ...NOTHING, sent: COMMITS });
      const one = shop.cost();
      const sentByOne = shop.got.splice(0).length;

      await shop.order(COMMITS);
      const reports = await Promise.all([shop.sweeper()(), shop.sweeper()()]);
      const two = shop.cost();

      expect(reports.reduce((sum, { sent }) => sum + sent, 0)).toBe(COMMITS);
      expect(shop.got.length).toBe(sentByOne);
      expect(new Set(shop.got).size).toBe(COMMITS);
      expect(two.requests).toBeLessThanOrEqual(1.1 * one.requests);
      expect(two.writeUnits).toBeLessThanOrEqual(1.1 * one.writeUnits);
    },
  );

  it.skipIf(!newShop)("H98: N4: when nothing waits, two cost little more than one", async () => {
    const shop = await newSweeps(await newShop!(), 1);
    await shop.sweeper()();
    const one = shop.cost();
    await Promise.all([shop.sweeper()(), shop.sweeper()()]);
    expect(shop.cost().requests).toBeLessThanOrEqual(one.requests + 1);
  });

  it.skipIf(!newShop)("N4: when a sweeper dies, another one sends within half a minute", async () => {
    const shop = await newSweeps(await newShop!(), 1);
    await shop.order(3);
    await new Promise<void>((resolve) => {
      const outbox = withOutbox(shop.outbox, {
        // It never comes back, like a process that is gone.
        async *findUnsent() {
          resolve();
          await new Promise(() => {});
        },
      });
      void shop.sweeper({ outbox })();
    });
    expect(await shop.sweeper()()).toEqual(NOTHING);
    await shop.clock.advance(30_000);
    expect(await shop.sweeper()()).toEqual({ ...NOTHING, sent: 3 });
  });
});
