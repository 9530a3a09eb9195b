// A server in its own process: a route that works for some milliseconds, bare or with the middleware over one of the stores.
// Listens on its own port, and reports it to its parent.
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import fastify from "fastify";
import { Redis } from "ioredis";
import type { Store } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { executionOf, fastifyIdempotency } from "onceonly/http";
import { fromPg, PostgresStore } from "onceonly/postgres";
import { fromIoredis, ValkeyStore } from "onceonly/valkey";
import pg from "pg";
import { answerParent } from "../../helper-process.ts";

export interface ServerSetup {
  /** No store: the bare handler. */
  readonly store: "none" | "Valkey" | "PostgreSQL" | "DynamoDB";
  /** The port of the store's engine, or its endpoint. */
  readonly at: string;
  /** The table of DynamoDB and PostgreSQL. */
  readonly table: string;
}

const STORES: Readonly<Record<Exclude<ServerSetup["store"], "none">, (setup: ServerSetup) => Store<never>>> =
  {
    Valkey: ({ at }) => new ValkeyStore({ client: fromIoredis(new Redis(Number(at), "127.0.0.1")) }),
    PostgreSQL: ({ at, table }) =>
      new PostgresStore({
        client: fromPg(
          new pg.Pool({
            host: "127.0.0.1",
            port: Number(at),
            user: "onceonly",
            database: "postgres",
            max: 20,
          }),
        ),
        table,
      }),
    DynamoDB: ({ at, table }) =>
      new DynamoDBStore({
        client: new DynamoDBClient({
          endpoint: at,
          region: "eu-central-1",
          credentials: { accessKeyId: "local", secretAccessKey: "local" },
        }),
        tableName: table,
      }),
  };

async function start(setup: ServerSetup): Promise<number> {
  const app = fastify();
  const isBare = setup.store === "none";
  const hooks = isBare
    ? {}
    : fastifyIdempotency({
        operation: "work",
        store: STORES[setup.store as keyof typeof STORES](setup),
        scope: () => "load",
      });
  app.post<{ Params: { ms: string } }>("/work/:ms", { ...hooks }, async (request, reply) => {
    await sleep(Number(request.params.ms));
    const id = isBare ? String(request.headers["idempotency-key"]) : executionOf(request).key;
    return reply.code(201).send({ id });
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  return (app.server.address() as AddressInfo).port;
}

answerParent((question: ServerSetup | "cpu") => (question === "cpu" ? process.cpuUsage() : start(question)));
