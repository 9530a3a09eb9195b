// Starts a contestant's process on empty stores, each behind a proxy that can lose an answer or go away.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { Client } from "pg";
import { createClient } from "redis";
import { type CuttingProxy, startCuttingProxy } from "../../../../test/kit/faults/cutting-proxy.ts";
import { createTable } from "../../../../test/kit/tables.ts";
import { guardProcess } from "../../../local/lib/process-guard.ts";
import type { Contestant } from "./contestant.ts";
import { CONTESTANTS, folderOf } from "./contestants.ts";
import { type OrderBook, openOrderBook } from "./orders.ts";
import type { SiteOptions } from "./site.ts";

export interface Stores {
  readonly dynamodb: DynamoDBClient;
  readonly ports: Readonly<Record<"DynamoDB" | "Valkey" | "PostgreSQL", number>>;
  readonly postgresUser: string;
  /** The executable of a newer Node.js, for those who need it. */
  readonly newerNode: string;
}

export interface Stage {
  readonly contestant: Contestant;
  readonly url: string;
  readonly orders: OrderBook;
  /** `undefined` for a store in memory. */
  readonly proxy: CuttingProxy | undefined;
  readonly valkeyUrl: string | undefined;
  /** SIGKILL, and the same again on the same store. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

let databases = 0;

export async function openStage(
  contestant: Contestant,
  stores: Stores,
  retentionSeconds?: number,
): Promise<Stage> {
  const { store } = contestant;
  const orders = await openOrderBook();
  const proxy = store === "memory" ? undefined : await startCuttingProxy(stores.ports[store]);
  const port = (of: keyof Stores["ports"]) => (store === of ? proxy!.port : stores.ports[of]);
  const database = databases++;
  const options: SiteOptions = {
    contestant: CONTESTANTS.indexOf(contestant),
    ordersUrl: orders.url,
    dynamodbUrl: `http://127.0.0.1:${port("DynamoDB")}`,
    tables: {
      id: await createTable(stores.dynamodb, "id"),
      pk: await createTable(stores.dynamodb, "pk"),
    },
    valkeyUrl: `redis://127.0.0.1:${port("Valkey")}/${database % 16}`,
    postgresUrl: `postgres://${stores.postgresUser}@127.0.0.1:${port("PostgreSQL")}/shop${database}`,
    ...(retentionSeconds && { retentionSeconds }),
  };
  if (store === "PostgreSQL") await createDatabase(stores, `shop${database}`);
  if (store === "Valkey") await emptyDatabase(stores, database % 16);
  const start = () =>
    startProcess(contestant.node ? stores.newerNode : process.execPath, JSON.stringify(options));
  let site = await start();
  return {
    ...{ contestant, orders, proxy },
    valkeyUrl: store === "Valkey" ? `redis://127.0.0.1:${stores.ports.Valkey}` : undefined,
    get url() {
      return site.url;
    },
    restart: async () => {
      await kill(site.child);
      site = await start();
    },
    close: async () => {
      await kill(site.child);
      proxy?.close();
      await orders.close();
    },
  };
}

async function startProcess(node: string, options: string) {
  const file = folderOf("packages/proof/show/league/site.ts");
  const child = spawn(node, ["--import", "tsx", file, options], {
    ...{ cwd: folderOf("."), stdio: ["ignore", "pipe", "pipe"], detached: true },
    env: { ...process.env, NODE_NO_WARNINGS: "1" },
  });
  guardProcess(child);
  let said = "";
  child.stderr.on("data", (chunk) => {
    said = `${said}${chunk}`.slice(-2000);
  });
  const url = await new Promise<string>((resolve, reject) => {
    let out = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
      const [, address] = /listening on (\S+)\n/.exec(out) ?? [];
      if (address) resolve(address);
    });
    child.once("exit", (code) => reject(new Error(`a site ended with ${code}: ${said}`)));
  });
  return { child, url };
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

async function createDatabase({ ports, postgresUser: user }: Stores, name: string): Promise<void> {
  const client = new Client({ host: "127.0.0.1", port: ports.PostgreSQL, user, database: "postgres" });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
}

async function emptyDatabase({ ports }: Stores, database: number): Promise<void> {
  const client = await createClient({ url: `redis://127.0.0.1:${ports.Valkey}/${database}` }).connect();
  await client.flushDb();
  client.destroy();
}
