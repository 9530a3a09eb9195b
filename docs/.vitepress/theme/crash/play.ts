// Plays one crash of an order handler: the real httpIdempotent over the real MemoryStore, on a clock that jumps.
import "./shims/globals.ts";
import type { Clock } from "../../../../lib/core/clock.ts";
import type { IdempotencyRecord } from "../../../../lib/core/record.ts";
import type { Store } from "../../../../lib/core/store.ts";
import { httpIdempotent } from "../../../../lib/lambda/http/http.ts";
import { MemoryStore } from "../../../../lib/testing/memory-store.ts";
import type { MemoryWrite } from "../../../../lib/testing/memory-tables.ts";
import type { CrashPoint } from "./points.ts";

interface Response {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Retry {
  /** Since the first request. */
  readonly afterSeconds: number;
  readonly status: number;
  readonly body: string;
  readonly isReplay: boolean;
  /** Whether it ran the handler. */
  readonly ran: boolean;
}

export interface Stored {
  /** Absent until a call has written one. */
  readonly record: { readonly state: string; readonly attempt: number } | undefined;
  readonly orders: number;
  readonly charges: number;
}

export interface Played {
  /** When the process had died, before any retry. */
  readonly afterCrash: Stored;
  readonly retries: readonly Retry[];
  readonly atTheEnd: Stored;
}

const EVENT = {
  version: "2.0",
  rawPath: "/orders",
  headers: { "idempotency-key": "order-1" },
  body: '{"sku":"tea"}',
  requestContext: { http: { method: "POST" }, authorizer: { jwt: { claims: { sub: "ana" } } } },
};
/** The first retry comes soon. The next ones follow `Retry-After`, until the lease is over. */
const FIRST_RETRY_SECONDS = 1;
const MOST_RETRIES = 12;
const INVOCATION_MS = 30_000;

/** What survives a crash: the table, and the payment provider. */
interface World {
  readonly store: MemoryStore;
  /** By the provider's idempotency key. */
  readonly charges: Map<string, string>;
  readonly clock: Clock & { advance(ms: number): void };
  recordKey: string | undefined;
  orders: number;
  runs: number;
}

type Crash = (at: CrashPoint) => Promise<void>;

export async function play(point: CrashPoint, isProtected: boolean): Promise<Played> {
  const world: World = {
    store: new MemoryStore(),
    charges: new Map(),
    clock: jumpingClock(),
    recordKey: undefined,
    orders: 0,
    runs: 0,
  };
  const { clock } = world;
  const start = clock.now();
  const handler = isProtected ? safe : careless;
  await crashed((crash) => handler(world, crash), point);
  const afterCrash = await lookAt(world);

  const retries: Retry[] = [];
  let waitSeconds: number = FIRST_RETRY_SECONDS;
  while (retries.length < MOST_RETRIES) {
    clock.advance(waitSeconds * 1000);
    const runs = world.runs;
    const { statusCode, headers = {}, body } = await handler(world, async () => {});
    retries.push({
      afterSeconds: (clock.now() - start) / 1000,
      status: statusCode,
      body,
      isReplay: headers["Idempotent-Replayed"] === "true",
      ran: world.runs > runs,
    });
    if (statusCode < 400) break;
    waitSeconds = Number(headers["Retry-After"] ?? 1);
  }
  return { afterCrash, retries, atTheEnd: await lookAt(world) };
}

async function safe(world: World, crash: Crash): Promise<Response> {
  const { clock } = world;
  const handler = httpIdempotent(
    async (_event: typeof EVENT, { idempotency }): Promise<Response> => {
      world.runs++;
      await charge(world, idempotency.childKey("charge"));
      await crash("after the charge");
      const id = `order ${world.runs}`;
      const write: MemoryWrite = { table: "orders", key: id, item: { id } };
      return idempotency.commit({ statusCode: 201, body: id }, { writes: [write] });
    },
    {
      operation: "order",
      store: crashing(world, crash),
      scope: ({ requestContext }) => requestContext.authorizer.jwt.claims.sub,
      whenInProgress: "reject",
      clock,
    },
  );
  const ends = clock.now() + INVOCATION_MS;
  const context = { awsRequestId: "r", getRemainingTimeInMillis: () => ends - clock.now() };
  const response = await handler(EVENT, context as never);
  await crash("before the answer arrives");
  return response as Response;
}

/** Charges under a key that it makes up, and writes on its own. */
async function careless(world: World, crash: Crash): Promise<Response> {
  await crash("before the claim");
  await crash("after the claim");
  world.runs++;
  await charge(world, `made up for run ${world.runs}`);
  await crash("after the charge");
  const id = `order ${world.runs}`;
  world.orders++;
  await crash("after the commit");
  await crash("before the answer arrives");
  return { statusCode: 201, body: id };
}

/** A provider that charges once for each key, as payment providers do. */
async function charge({ charges }: World, key: string): Promise<void> {
  charges.set(key, "12.00 EUR");
}

/** The store, whose process can die at its edge. */
function crashing(world: World, crash: Crash): Store<MemoryWrite> {
  const { store } = world;
  return new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      if (name === "claim")
        return async (...given: Parameters<MemoryStore["claim"]>) => {
          await crash("before the claim");
          const answer = await store.claim(...given);
          world.recordKey = given[0].recordKey;
          await crash("after the claim");
          return answer;
        };
      if (name === "settle")
        return async (...given: Parameters<MemoryStore["settle"]>) => {
          const answer = await store.settle(...given);
          await crash("after the commit");
          return answer;
        };
      return method.bind(target);
    },
  });
}

/** Runs until the process dies at `point`: nothing that it awaits then ever comes back. */
function crashed(work: (crash: Crash) => Promise<unknown>, point: CrashPoint): Promise<void> {
  return new Promise((resolve, reject) => {
    const crash: Crash = (at) => {
      if (at !== point) return Promise.resolve();
      resolve();
      return new Promise(() => {});
    };
    work(crash).then(() => reject(new Error(`the handler ended before "${point}"`)), reject);
  });
}

async function lookAt({ store, recordKey, charges, orders }: World): Promise<Stored> {
  const record: IdempotencyRecord | undefined =
    recordKey === undefined ? undefined : await store.find(recordKey, { consistent: true });
  return {
    record: record && { state: record.state, attempt: record.attempt },
    orders: orders + store.table("orders").size,
    charges: charges.size,
  };
}

/** Jumps from one request to the next. Sleeps never end: no retry waits within a request. */
function jumpingClock(): World["clock"] {
  let now = Date.now();
  return {
    now: () => now,
    sleep: () => new Promise(() => {}),
    advance(ms) {
      now += ms;
    },
  };
}
