// Starts a cluster on loopback: three masters with replicas. Tests fail it over, kill its nodes and move its slots.
import { Redis } from "ioredis";
import { startValkey, type ValkeyServer } from "./valkey-server.ts";

export interface ValkeyCluster {
  /** Of all nodes that are alive, the masters first. */
  readonly ports: readonly number[];
  /** The node that owns a slot as the cluster sees it now, and the replicas connected to it. */
  shardOf(slot: number): Promise<Shard>;
  /** The ports of the masters that have slots. */
  masters(): Promise<readonly number[]>;
  /** Moves a slot with all its keys, as `redis-cli --cluster reshard` does. */
  moveSlot(slot: number, toPort: number): Promise<void>;
  /** Begins to move a slot. Its keys follow with `moveKeys`, and `finish` ends the move. */
  openMove(slot: number, toPort: number): Promise<OpenMove>;
  /** The command, sent to one node. */
  ask(port: number, name: string, ...words: string[]): Promise<unknown>;
  /** Kills a node (SIGKILL). */
  kill(port: number): Promise<void>;
  /** Stops a node (SIGSTOP) until the returned function resumes it. */
  freeze(port: number): () => void;
  /** Resolves when all slots are served and every master has its replica connected. */
  settled(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

interface OpenMove {
  moveKeys(): Promise<void>;
  finish(): Promise<void>;
}

interface Shard {
  readonly master: number;
  readonly replicas: readonly number[];
}

interface Node {
  readonly id: string;
  readonly port: number;
  readonly isDown: boolean;
  readonly masterId: string;
  readonly slots: readonly (readonly [first: number, last: number])[];
}

const MASTERS = 3;
const SLOTS = 16_384;
const KEYS_AT_ONCE = 100;

/** A cluster learns of a dead master after this time. Shorter ones call busy machines dead. */
const NODE_TIMEOUT_MS = 3000;

const SETTINGS = [
  ["--cluster-enabled", "yes"],
  ["--cluster-announce-ip", "127.0.0.1"],
  ["--cluster-node-timeout", `${NODE_TIMEOUT_MS}`],
  ["--cluster-replica-validity-factor", "0"],
  ["--repl-diskless-sync-delay", "0"],
].flat();

/** @param spares masters, from the first one on, with a second replica, so that one is left when they die */
export async function startValkeyCluster({ spares = 0 } = {}): Promise<ValkeyCluster> {
  const servers = await Promise.all(
    Array.from({ length: 2 * MASTERS + spares }, () => startValkey(SETTINGS)),
  );
  const nodes = new Map(servers.map((server) => [server.port, { server, admin: adminOf(server) }]));
  const ports = [...nodes.keys()];
  const ask = (port: number, name: string, ...words: string[]): Promise<unknown> => {
    const node = nodes.get(port);
    if (!node) throw new Error(`no node of this cluster listens on ${port}`);
    return node.admin.call(name, words);
  };
  const idOf = async (port: number) => String(await ask(port, "CLUSTER", "MYID"));
  /** As the first master that answers sees it. */
  const view = async (): Promise<Node[]> => {
    for (const port of ports) {
      const text = await ask(port, "CLUSTER", "NODES").catch(() => undefined);
      // A replica learns later of what happened.
      if (text !== undefined && /myself,master/.test(String(text))) return readNodes(String(text));
    }
    throw new Error("no node of this cluster answers");
  };
  const shardOf = async (slot: number): Promise<Shard> => {
    const seen = await view();
    const master = ownerIn(seen, slot);
    if (!master) throw new Error(`no node has slot ${slot}`);
    // The nodes' own lists learn that a node has become a replica later than its master does.
    const [, , connected] = (await ask(master.port, "ROLE")) as [string, number, [string, string][]];
    return { master: master.port, replicas: connected.map(([, port]) => Number(port)) };
  };
  const masters = async () =>
    (await view())
      .filter(({ slots, isDown }) => slots.length > 0 && !isDown)
      .map(({ port }) => port)
      .sort();
  const isSettled = async (): Promise<boolean> => {
    const isReady = async (port: number): Promise<boolean> => {
      const info = String(await ask(port, "CLUSTER", "INFO"));
      if (!info.includes("cluster_state:ok") || !info.includes(`cluster_slots_ok:${SLOTS}`)) return false;
      const replication = String(await ask(port, "INFO", "replication"));
      return replication.includes("role:master")
        ? replication.includes("state=online")
        : replication.includes("master_link_status:up");
    };
    const ready = await Promise.all(ports.map((port) => isReady(port).catch(() => !nodes.has(port))));
    return ready.every(Boolean);
  };
  const settled = async (signal: AbortSignal): Promise<void> => {
    while (!(await isSettled())) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      signal.throwIfAborted();
    }
  };
  const openMove = async (slot: number, toPort: number) => {
    const { master } = await shardOf(slot);
    const [from, to] = [await idOf(master), await idOf(toPort)];
    await ask(toPort, "CLUSTER", "SETSLOT", `${slot}`, "IMPORTING", from);
    await ask(master, "CLUSTER", "SETSLOT", `${slot}`, "MIGRATING", to);
    const moveKeys = async () => {
      for (;;) {
        const keys = await ask(master, "CLUSTER", "GETKEYSINSLOT", `${slot}`, `${KEYS_AT_ONCE}`);
        if (!Array.isArray(keys) || keys.length === 0) break;
        await ask(master, "MIGRATE", "127.0.0.1", `${toPort}`, "", "0", "5000", "KEYS", ...keys.map(String));
      }
    };
    const isSeenBy = async (port: number) =>
      ownerIn(readNodes(String(await ask(port, "CLUSTER", "NODES"))), slot)?.id === to;
    const finish = async () => {
      await moveKeys();
      const signal = AbortSignal.timeout(30_000);
      for (;;) {
        // The new owner first: with the old one first, a node that dies in between loses the slot. Replicas learn it from their masters.
        const asked = [...new Set([toPort, master, ...(await masters())])];
        for (const port of asked) await ask(port, "CLUSTER", "SETSLOT", `${slot}`, "NODE", to);
        // Messages of an earlier move that are still under way may give the slot back.
        await new Promise((resolve) => setTimeout(resolve, 20));
        if ((await Promise.all(asked.map(isSeenBy))).every(Boolean)) return;
        signal.throwIfAborted();
      }
    };
    return { moveKeys, finish };
  };
  const cluster: ValkeyCluster = {
    ports,
    ask,
    shardOf,
    masters,
    openMove,
    settled,
    moveSlot: async (slot, toPort) => (await openMove(slot, toPort)).finish(),
    kill: async (port) => {
      const node = nodes.get(port);
      nodes.delete(port);
      ports.splice(ports.indexOf(port), 1);
      node?.admin.disconnect();
      await node?.server.stop();
    },
    freeze: (port) => {
      const { pid } = nodes.get(port)?.server ?? {};
      if (pid === undefined) throw new Error(`no node of this cluster listens on ${port}`);
      process.kill(pid, "SIGSTOP");
      return () => void process.kill(pid, "SIGCONT");
    },
    stop: async () => {
      await Promise.all(
        [...nodes.values()].map(async ({ server, admin }) => {
          admin.disconnect();
          await server.stop();
        }),
      );
    },
  };
  try {
    await form(ports, ask, idOf, settled);
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

async function form(
  ports: readonly number[],
  ask: ValkeyCluster["ask"],
  idOf: (port: number) => Promise<string>,
  settled: ValkeyCluster["settled"],
): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  const masters = ports.slice(0, MASTERS);
  await Promise.all(
    masters.map(async (port, index) => {
      await ask(port, "CLUSTER", "SET-CONFIG-EPOCH", `${index + 1}`);
      const [first, end] = [index, index + 1].map((part) => Math.floor((part * SLOTS) / MASTERS)) as [
        number,
        number,
      ];
      const slots = Array.from({ length: end - first }, (_, at) => `${first + at}`);
      await ask(port, "CLUSTER", "ADDSLOTS", ...slots);
    }),
  );
  const [first = 0, ...others] = ports;
  for (const port of others) await ask(port, "CLUSTER", "MEET", "127.0.0.1", `${first}`);
  for (const [index, port] of ports.slice(MASTERS).entries()) {
    const master = await idOf(masters[index % MASTERS] ?? 0);
    // It must know its master by then.
    while (!String(await ask(port, "CLUSTER", "NODES")).includes(`${master} `)) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      signal.throwIfAborted();
    }
    await ask(port, "CLUSTER", "REPLICATE", master);
  }
  await settled(signal);
}

const ownerIn = (nodes: readonly Node[], slot: number) =>
  nodes.find((node) => node.slots.some(([first, last]) => slot >= first && slot <= last));

function adminOf({ port }: ValkeyServer): Redis {
  const admin = new Redis({ port, host: "127.0.0.1", commandTimeout: 10_000, maxRetriesPerRequest: 1 });
  admin.on("error", () => {});
  return admin;
}

/** https://valkey.io/commands/cluster-nodes/ */
function readNodes(text: string): Node[] {
  return text
    .trim()
    .split("\n")
    .map((line) => {
      const [id = "", address = "", flags = "", masterId = "", , , , , ...ranges] = line.split(" ");
      const slots = ranges
        .filter((range) => !range.startsWith("["))
        .map((range) => {
          const [first = 0, last = first] = range.split("-").map(Number);
          return [first, last] as const;
        });
      return {
        id,
        port: Number(/:(\d+)@/.exec(address)?.[1]),
        isDown: /fail/.test(flags),
        masterId,
        slots,
      };
    });
}
