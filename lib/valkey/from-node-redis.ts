/** The adapter for `redis` (node-redis). */
import { checkMethods } from "../core/option-checks.ts";
import { askedAddress } from "./failures.ts";
import type { ValkeyClient } from "./valkey-client.ts";

/** A client of `createClient`, or a pool of `createClientPool`. */
export interface NodeRedisClient {
  readonly slots?: undefined;
  sendCommand(args: string[]): Promise<unknown>;
  multi(): { addCommand(args: string[]): { execAsPipeline(): Promise<unknown> } };
}

/** A cluster of `createCluster`. */
export interface NodeRedisCluster {
  readonly slots: readonly unknown[];
  readonly nodeByAddress: ReadonlyMap<string, unknown>;
  /** The type of the nodes is the client's. */
  nodeClient(node: never): Promise<NodeRedisClient>;
  sendCommand(key: string, isReadonly: boolean, args: string[]): Promise<unknown>;
  multi(key: string): {
    addCommand(key: string, isReadonly: boolean, args: string[]): { execAsPipeline(): Promise<unknown> };
  };
}

/**
 * Makes a `ValkeyClient` from the result of `createClient`, `createClientPool` or `createCluster` in `redis`. Connect it first.
 * Add a listener for its `error` events, because a lost connection ends the process without one.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function fromNodeRedis(client: NodeRedisClient | NodeRedisCluster): ValkeyClient {
  checkMethods("client", client, ["sendCommand", "multi"], "a client, pool or cluster from redis");
  if (!isCluster(client)) {
    return {
      send: (_key, command) => client.sendCommand([...command]),
      sendTogether: (_key, commands) => together(client, commands),
    };
  }
  return {
    send: (key, command) => client.sendCommand(key, false, [...command]),
    sendTogether: async (key, commands) => {
      try {
        const pipeline = client.multi(key);
        for (const command of commands) pipeline.addCommand(key, false, [...command]);
        return repliesOf(await (pipeline as unknown as Executable).execAsPipeline());
      } catch (error) {
        // A cluster client doesn't redirect pipelines. While a slot is being moved, only its target node can answer.
        const node = client.nodeByAddress.get(askedAddress(error) ?? "");
        if (!node) throw error;
        return (await together(await client.nodeClient(node as never), [["ASKING"], ...commands])).slice(1);
      }
    },
  };
}

async function together(
  client: NodeRedisClient,
  commands: readonly (readonly string[])[],
): Promise<readonly unknown[]> {
  const pipeline = client.multi();
  for (const command of commands) pipeline.addCommand([...command]);
  return repliesOf(await (pipeline as unknown as Executable).execAsPipeline());
}

interface Executable {
  execAsPipeline(): Promise<unknown>;
}

/** Only a cluster has `slots` before it is connected; its other methods look like a client's. */
const isCluster = (client: NodeRedisClient | NodeRedisCluster): client is NodeRedisCluster =>
  "slots" in client && client.slots !== undefined;

const repliesOf = (replies: unknown): readonly unknown[] => (Array.isArray(replies) ? replies : []);
