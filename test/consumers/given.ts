// Brokers of this run, each behind one bench, and a shop on PostgreSQL whose handler runs in the transaction of its record.
import { randomUUID } from "node:crypto";
import type { Execution } from "onceonly";
import type { ConsumerOptions } from "onceonly/consumers";
import { fromPg, PostgresTransactions } from "onceonly/postgres";
import type pg from "pg";
import { afterEach, beforeAll, inject } from "vitest";
import type { DecisionEvent } from "../../lib/core/decisions.ts";
import { hasCode } from "../../lib/core/error-code.ts";
import { type BrokerName, NO_BROKER } from "../kit/broker-servers.ts";
import { gate } from "../kit/time/gate.ts";
import { timeless } from "../kit/time/timeless.ts";
import { freshTable, poolOf, portOf as postgresPortOf, storeOf } from "../postgres/given.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
export const afterwards = (close: () => unknown): void => {
  closing.push(close);
};

/** On a busy machine RabbitMQ takes longer to start than a test may. */
const STARTED_WITHIN_MS = 130_000;

/** Without the broker its tests do not run, and a printed line says what to install. Its start counts for none of them. */
export function hasBroker(name: BrokerName): boolean {
  const isThere = inject("brokers").includes(name);
  if (isThere) beforeAll(async () => void (await brokerPort(name)), STARTED_WITHIN_MS);
  else console.warn(NO_BROKER[name]);
  return isThere;
}

/** The port of a broker, which starts for who asks first. */
export async function brokerPort(name: BrokerName): Promise<number> {
  const answer = await fetch(`${inject("brokerStarter")}/${name}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return Number(text);
}

export const freshName = (): string => `orders-${randomUUID()}`;

/** What handlers of these tests see of a message, whatever its broker. */
export type Handle = (text: string, idempotency: Execution<never>) => unknown;
export type Options = Omit<ConsumerOptions<never, never>, "whenFinalError"> & {
  readonly whenFinalError?: "return" | "acknowledge";
};

export interface Consumer {
  /** Ends the connection, as a lost network does. */
  cut(): void;
  /** Ends it in order: what is at work is waited for, and what is not acknowledged goes back. */
  stop(): Promise<void>;
}

/** One queue, stream or partition of its own, with a place for what is put aside. */
export interface Bench {
  send(text: string, headers?: Readonly<Record<string, string>>): Promise<void>;
  consume(handle: Handle, options: Options): Promise<Consumer>;
  /** How many messages are not acknowledged. */
  left(): Promise<number>;
  /** How many messages were put aside. */
  aside(): Promise<number>;
}

/** Notes each decision, and resolves when there are enough of one. */
export function watch() {
  const decisions: string[] = [];
  const listeners = new Set<() => void>();
  return {
    decisions,
    count: (decision: string) => decisions.filter((each) => each === decision).length,
    observe: ({ decision }: DecisionEvent) => {
      decisions.push(decision);
      for (const listener of listeners) listener();
    },
    seen: (decision: string, times = 1) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (decisions.filter((each) => each === decision).length >= times) resolve();
        };
        listeners.add(look);
        look();
      }),
  };
}

/** A handler that notes its effect in the transaction of its record. The table takes the same effect twice. */
export async function shop() {
  const pool = poolOf(await postgresPortOf());
  const { table } = await storeOf(fromPg(pool));
  const store = new PostgresTransactions({ client: fromPg(pool), table, waitSeconds: 0.05 });
  const effects = freshTable();
  await pool.query(`CREATE TABLE ${effects} (text text)`);
  const column = async (sql: string) => (await pool.query(sql)).rows.map((row) => Object.values(row)[0]);
  const watched = watch();
  const reported: unknown[] = [];
  const refused = gate();
  const claim = store.claim.bind(store);
  store.claim = (...given) =>
    claim(...given).catch((error: unknown) => {
      if (hasCode(error, "EXECUTION_IN_PROGRESS")) refused.open();
      throw error;
    });
  return {
    ...watched,
    store,
    reported,
    /** Resolves when a message was found to be in progress. */
    refused: refused.opened,
    options: {
      operation: "ship-order",
      store,
      retrySeconds: 0,
      clock: timeless(),
      observe: watched.observe,
      onMessageError: (error: unknown) => void reported.push(error),
    } as Options,
    note: (text: string, idempotency: Execution<never>) =>
      (store.clientOf(idempotency) as pg.PoolClient).query(`INSERT INTO ${effects} VALUES ($1)`, [text]),
    effects: () => column(`SELECT text FROM ${effects} ORDER BY text`),
    states: () => column(`SELECT state FROM ${table} ORDER BY state`),
  };
}
