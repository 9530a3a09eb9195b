// A server in its own process: a route that works for some milliseconds, bare or with the middleware over one of the stores.
// Listens on its own port, and reports it to its parent.
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import fastify, { type FastifyRequest } from "fastify";
import { Redis } from "ioredis";
import type { Store } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { executionOf, fastifyIdempotency } from "onceonly/http";
import { fromPg, PostgresStore } from "onceonly/postgres";
import { fromIoredis, ValkeyStore } from "onceonly/valkey";
import pg from "pg";
import { answerParent } from "../../helper-process.ts";
import { FLOORS, type FloorName } from "./floors.ts";

export interface ServerSetup {
  /** No store: the bare handler. A floor: the smallest commands that claim and complete. */
  readonly store: "none" | "Valkey" | "PostgreSQL" | "DynamoDB" | FloorName;
  /** The port of the store's engine, or its endpoint. */
  readonly at: string;
  /** The table of DynamoDB and PostgreSQL. */
  readonly table: string;
}

type Stored = Exclude<ServerSetup["store"], "none" | FloorName>;

const STORES: Readonly<Record<Stored, (setup: ServerSetup) => Store<never>>> = {
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
  const { store } = setup;
  const path = "/work/:ms";
  const work = (params: unknown) => sleep(Number((params as { readonly ms: string }).ms));
  if (store in FLOORS) {
    const callOnce = FLOORS[store as FloorName](setup);
    app.post(path, async (request, reply) => {
      const id = keyOf(request);
      const first = await callOnce(id, async () => {
        await work(request.params);
        return JSON.stringify({ id });
      });
      if (first.isReplay) reply.header("idempotent-replayed", "true");
      return reply.code(201).type("application/json").send(first.body);
    });
  } else if (store === "none") {
    app.post(path, async (request, reply) => {
      await work(request.params);
      return reply.code(201).send({ id: keyOf(request) });
    });
  } else {
    const hooks = fastifyIdempotency({
      operation: "work",
      store: STORES[store as Stored](setup),
      scope: () => "load",
    });
    app.post(path, { ...hooks }, async (request, reply) => {
      await work(request.params);
      return reply.code(201).send({ id: executionOf(request).key });
    });
  }
  await app.listen({ port: 0, host: "127.0.0.1" });
  return (app.server.address() as AddressInfo).port;
}

const keyOf = (request: FastifyRequest) => String(request.headers["idempotency-key"]);

answerParent((question: ServerSetup | "cpu") => (question === "cpu" ? process.cpuUsage() : start(question)));
