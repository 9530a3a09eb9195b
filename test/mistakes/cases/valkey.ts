import { runOnce } from "onceonly";
import { fromGlide, type ValkeyClient, ValkeyStore, type ValkeyStoreOptions } from "onceonly/valkey";
import type { Mistake } from "../given.ts";
import { messageOf } from "../given.ts";

const SAFE = "redis_version:7.0.15\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n";

/** A server with this INFO, which makes each change, or answers each script with this error. */
const server = (info: string, error?: string): ValkeyClient => ({
  send: async (_, [command]) => {
    if (command === "INFO") return info;
    if (error) throw new Error(error);
    return ["1", "1"];
  },
});

const making = (options: object) => () => messageOf(() => new ValkeyStore(options as ValkeyStoreOptions));

const asking = (client: ValkeyClient) => () => {
  const store = new ValkeyStore({ client });
  return messageOf(() => runOnce({ operation: "order", store, leaseSeconds: 30 }, "key", {}, () => 1));
};

const committing = (effects: object) => () => {
  const store = new ValkeyStore({ client: server(SAFE) });
  return messageOf(() =>
    runOnce({ operation: "order", store, leaseSeconds: 30 }, "key", {}, ({ commit }) =>
      commit("done", effects as never),
    ),
  );
};

/** A store in Lua, and a server that does not keep what it has. */
export const VALKEY_MISTAKES: readonly Mistake[] = [
  {
    made: "passes a ValkeyStore the client itself",
    reportedBy: "error",
    text: "`client` must be a client, such as `fromIoredis(client)`, `fromNodeRedis(client)` or `fromGlide(client)`",
    make: making({ client: { get: () => {}, call: () => {} } }),
  },
  {
    made: "keeps records in a cache that evicts them",
    reportedBy: "error",
    text: '`acceptedRisks` must include "evicts-records" for this server: its `maxmemory-policy` is allkeys-lru, so it deletes records when memory runs short, and their operations run again. Set noeviction',
    make: asking(server(SAFE.replace("noeviction", "allkeys-lru"))),
  },
  {
    made: "keeps records in memory only",
    reportedBy: "error",
    text: '`acceptedRisks` must include "memory-only" for this server: `appendonly` is off',
    make: asking(server(SAFE.replace("aof_enabled:1", "aof_enabled:0"))),
  },
  {
    made: "fills the server's memory",
    reportedBy: "error",
    text: "(throttled: OOM, the server's memory is full: raise maxmemory)",
    make: asking(server(SAFE, "OOM command not allowed when used memory > 'maxmemory'")),
  },
  {
    made: "connects to a replica",
    reportedBy: "error",
    text: "(unreachable: READONLY, the server is a replica: connect to the primary)",
    make: asking(server(SAFE, "READONLY You can't write against a read only replica.")),
  },
  {
    made: "connects to a cluster with a client that doesn't support clusters",
    reportedBy: "error",
    text: "MOVED, another node of the cluster has this key now: use a cluster client",
    make: asking(server(SAFE, "MOVED 3999 127.0.0.1:6381")),
  },
  {
    made: "writes to a different cluster slot than the record's",
    reportedBy: "error",
    text: "outside the record's slot of the cluster (CROSSSLOT), and nothing was written: set `hashTag` on the store, and use it in the keys of `writes`",
    make: asking(server(SAFE, "CROSSSLOT Keys in request don't hash to the same slot")),
  },
  {
    made: "waits for replicas with a glide client, without passing the batch class",
    reportedBy: "error",
    text: "`acknowledgedBy` needs a client with `sendTogether`: pass the batch class too, as in `fromGlide(client, Batch)`",
    make: making({
      client: fromGlide({ customCommand: async () => {}, exec: async () => [] }),
      acknowledgedBy: { replicas: 1, timeoutMs: 100 },
    }),
  },
  {
    made: "gives the acknowledgement timeout in another unit",
    reportedBy: "error",
    text: "`acknowledgedBy` must be { replicas, timeoutMs, onDisk }",
    make: making({ client: server(SAFE), acknowledgedBy: { replicas: 1, timeoutSeconds: 1 } }),
  },
  {
    made: "commits messages to Valkey",
    reportedBy: "error",
    text: "a ValkeyStore has no outbox, so no relay would send the messages of a commit: leave `messages` out, and XADD to your own stream in `writes`",
    make: committing({
      messages: [
        {
          queue: "https://sqs.eu-central-1.amazonaws.com/123456789012/q.fifo",
          key: "k",
          group: "g",
          body: 1,
        },
      ],
    }),
  },
  {
    made: "commits a command that has several keys",
    reportedBy: "error",
    text: "writes[0] must have one of the commands APPEND",
    make: committing({ writes: [{ command: ["MSET", "a", "1", "b", "2"] }] }),
  },
];
