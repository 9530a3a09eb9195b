// A Valkey or Redis of this run, stores with prefixes of their own, and clients that are closed after each file.
import { randomUUID } from "node:crypto";
import { Batch, ClusterBatch, GlideClient, GlideClusterClient, Logger } from "@valkey/valkey-glide";
import { Cluster, Redis, type RedisOptions } from "ioredis";
import iovalkey from "iovalkey";
import { createClient, createClientPool, createCluster } from "redis";
import { afterAll, inject } from "vitest";
import { fromGlide } from "../../lib/valkey/from-glide.ts";
import { fromIoredis } from "../../lib/valkey/from-ioredis.ts";
import { fromNodeRedis } from "../../lib/valkey/from-node-redis.ts";
import type { ValkeyStoreOptions } from "../../lib/valkey/options.ts";
import type { ValkeyClient } from "../../lib/valkey/valkey-client.ts";
import { ValkeyStore } from "../../lib/valkey/valkey-store.ts";
import { NO_VALKEY } from "../kit/valkey-server.ts";

/** Without a server its tests do not run, and a printed line says what to install. */
export const hasServer = inject("hasValkey");
if (!hasServer) console.warn(NO_VALKEY);

// It writes each error of a server to the console.
Logger.init("off");

/** The port of a server, which starts for who asks first. */
export async function portOf(kind: "server" | "cluster" = "server"): Promise<number> {
  const answer = await fetch(`${inject("valkeyStarter")}/${kind}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  const port = Number(text);
  if (kind === "cluster") await formCluster(port);
  return port;
}

/** One node that has all slots. */
async function formCluster(port: number): Promise<void> {
  const client = redisOf(port);
  const info = async () => String(await client.call("CLUSTER", ["INFO"]));
  if ((await info()).includes("cluster_slots_assigned:0")) {
    const slots = Array.from({ length: 16_384 }, (_, slot) => `${slot}`);
    // Another file may be quicker.
    await client.call("CLUSTER", ["ADDSLOTS", ...slots]).catch(() => {});
  }
  while (!(await info()).includes("cluster_state:ok"))
    await new Promise((resolve) => setTimeout(resolve, 20));
}

const closing: (() => unknown)[] = [];
afterAll(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});
export const afterwards = (close: () => unknown): void => {
  closing.push(close);
};

const host = "127.0.0.1";

export function redisOf(port: number, options: RedisOptions = {}): Redis {
  const client = new Redis({ port, host, commandTimeout: 10_000, ...options });
  // The servers of these tests end their connections.
  client.on("error", () => {});
  afterwards(() => client.disconnect());
  return client;
}

async function nodeRedisOf(port: number) {
  const client = createClient({ url: `redis://${host}:${port}` });
  client.on("error", () => {});
  await client.connect();
  afterwards(() => client.destroy());
  return client;
}

async function glideOf(port: number): Promise<GlideClient> {
  const client = await GlideClient.createClient({ addresses: [{ host, port }], requestTimeout: 10_000 });
  afterwards(() => client.close());
  return client;
}

/** Each client, on a server alone. */
export const CLIENTS: Readonly<Record<string, (port: number) => ValkeyClient | Promise<ValkeyClient>>> = {
  ioredis: (port) => fromIoredis(redisOf(port)),
  iovalkey: (port) => {
    const client = new iovalkey.Redis(port, host);
    client.on("error", () => {});
    afterwards(() => client.disconnect());
    return fromIoredis(client);
  },
  "redis, a client": async (port) => fromNodeRedis(await nodeRedisOf(port)),
  "redis, a pool": async (port) => {
    const pool = createClientPool({ url: `redis://${host}:${port}`, RESP: 3 });
    pool.on("error", () => {});
    await pool.connect();
    afterwards(() => pool.destroy());
    return fromNodeRedis(pool);
  },
  glide: async (port) => fromGlide(await glideOf(port), Batch),
};

/** Each client, on a cluster. */
export const CLUSTERS: typeof CLIENTS = {
  ioredis: (port) => {
    const cluster = new Cluster([{ host, port }]);
    cluster.on("error", () => {});
    afterwards(() => cluster.disconnect());
    return fromIoredis(cluster);
  },
  iovalkey: (port) => {
    const cluster = new iovalkey.Cluster([{ host, port }]);
    cluster.on("error", () => {});
    afterwards(() => cluster.disconnect());
    return fromIoredis(cluster);
  },
  redis: async (port) => {
    const cluster = createCluster({ rootNodes: [{ url: `redis://${host}:${port}` }] });
    cluster.on("error", () => {});
    await cluster.connect();
    afterwards(() => cluster.destroy());
    return fromNodeRedis(cluster);
  },
  glide: async (port) => {
    const client = await GlideClusterClient.createClient({
      addresses: [{ host, port }],
      requestTimeout: 10_000,
    });
    afterwards(() => client.close());
    return fromGlide(client, ClusterBatch);
  },
};

export const freshPrefix = (): string => `test-${randomUUID()}`;

/** A store with a prefix of its own. */
export function storeOf(client: ValkeyClient, options: Partial<ValkeyStoreOptions> = {}) {
  const prefix = freshPrefix();
  return { store: new ValkeyStore({ client, prefix, ...options }), prefix };
}
