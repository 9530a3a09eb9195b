// Two reconcilers at the same time, on real servers: what they settle, and what they cost together.
import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { runOnce, type Store } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { fromPg } from "onceonly/postgres";
import { type ReconcilerOptions, reconciler, type VerifyRecord } from "onceonly/reconciler";
import { fakeClock } from "onceonly/testing";
import { fromIoredis } from "onceonly/valkey";
import { describe, expect, inject, it } from "vitest";
import { countRequests } from "../kit/counting-client.ts";
import { connect, createOutboxTable } from "../kit/tables.ts";
import * as postgres from "../postgres/given.ts";
import * as valkey from "../valkey/given.ts";

const KEYS = 60;

interface Place {
  readonly store: Store<never>;
  /** How many requests the server got since the last call. */
  readonly requests: () => number;
}

/** Counts the calls of a client's only method. */
function counting<Method extends string, Client extends Readonly<Record<Method, unknown>>>(
  client: Client,
  method: Method,
) {
  let count = 0;
  const counted = (...given: unknown[]) => {
    count++;
    return (client[method] as (...all: unknown[]) => unknown).apply(client, given);
  };
  const requests = () => {
    const made = count;
    count = 0;
    return made;
  };
  return { client: { ...client, [method]: counted } as Client, requests };
}

const PLACES: Readonly<Record<string, (() => Promise<Place>) | undefined>> = {
  ...Object.fromEntries(
    inject("dynamodbEngines").map(({ name, endpoint }) => [
      name,
      async () => {
        const client = connect(endpoint);
        const counts = countRequests(client);
        const requests = () => {
          const { requests } = counts;
          counts.reset();
          return requests;
        };
        const tableName = await createOutboxTable(client);
        return { store: new DynamoDBStore({ tableName, client }) as unknown as Store<never>, requests };
      },
    ]),
  ),
  PostgreSQL: postgres.hasServer
    ? async () => {
        const { client, requests } = counting(fromPg(postgres.poolOf(await postgres.portOf())), "query");
        const { store } = await postgres.storeOf(client);
        return { store: store as unknown as Store<never>, requests };
      }
    : undefined,
  Valkey: valkey.hasServer
    ? async () => {
        const { client, requests } = counting(fromIoredis(valkey.redisOf(await valkey.portOf())), "send");
        const { store } = valkey.storeOf(client);
        return { store: store as unknown as Store<never>, requests };
      }
    : undefined,
};

async function newWorld(place: () => Promise<Place>) {
  const { store, requests } = await place();
  const clock = fakeClock(Date.now());
  const engine = { operation: "charge", store, clock, leaseSeconds: 30, renewLease: false } as const;
  const die = async () => {
    const dies = () =>
      new Promise<void>((claimed) => {
        void runOnce({ ...engine, whenAbandoned: "hold" }, randomUUID(), {}, () => {
          claimed();
          return new Promise(() => {});
        });
      });
    await Promise.all(Array.from({ length: KEYS }, dies));
    await clock.advance(100_000);
    requests();
  };
  const asked: string[] = [];
  const verify: VerifyRecord = ({ childKey }) => {
    asked.push(childKey("charge"));
    return { outcome: "happened", result: "charged" };
  };
  const handler = (operations: ReconcilerOptions["operations"] = { charge: verify }, over = store) =>
    reconciler({ store: over, clock, operations, observe: () => {} });
  return { store, requests, die, asked, verify, handler };
}

describe.each(Object.entries(PLACES))("two reconcilers on %s", (_, place) => {
  it.skipIf(!place)(
    "H98: at the same time cost at most 1.1 times as much as one, and settle each key once",
    async () => {
      const { requests, die, asked, handler } = await newWorld(place!);
      await die();
      expect(await handler()()).toMatchObject({ happened: KEYS });
      const one = requests();
      asked.length = 0;

      await die();
      const reports = await Promise.all([handler()(), handler()()]);
      const two = requests();

      expect(reports.map(({ happened }) => happened).sort()).toEqual([0, KEYS]);
      expect(reports.filter(({ isSkipped }) => isSkipped)).toHaveLength(1);
      expect(new Set(asked).size).toBe(KEYS);
      expect(asked).toHaveLength(KEYS);
      expect(two).toBeLessThanOrEqual(1.1 * one);
    },
  );

  it.skipIf(!place)("H98: when nothing waits, the second one makes two requests at most", async () => {
    const { store, requests, handler } = await newWorld(place!);
    await handler()();
    requests();
    await handler()();
    const one = requests();
    const [isListing, isSkipped] = [new EventEmitter(), new EventEmitter()];
    const listed = once(isListing, "now");
    const skipped = once(isSkipped, "now");
    const slow = new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        if (name !== "unknownOutcomes") return value.bind(target);
        return async function* list(query: never) {
          isListing.emit("now");
          await skipped;
          yield* value.call(target, query);
        };
      },
    });

    const first = handler(undefined, slow)();
    await listed;
    const second = await handler()();
    isSkipped.emit("now");

    expect([await first, second]).toMatchObject([{ isSkipped: false }, { isSkipped: true }]);
    expect(requests()).toBeLessThanOrEqual(one + 2);
  });

  it.skipIf(!place)("of other operations don't wait for each other", async () => {
    const { die, verify, asked, handler } = await newWorld(place!);
    await die();

    const reports = await Promise.all([handler()(), handler({ refund: verify })()]);

    expect(reports).toMatchObject([
      { happened: KEYS, isSkipped: false },
      { happened: 0, isSkipped: false },
    ]);
    expect(asked).toHaveLength(KEYS);
  });
});
