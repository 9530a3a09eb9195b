/** The adapter for `ioredis` and `iovalkey`. */
import { checkMethods } from "../core/option-checks.ts";
import { askedAddress } from "./failures.ts";
import type { ValkeyClient } from "./valkey-client.ts";

/** The result of `pipeline` in ioredis and iovalkey. */
export interface IoredisPipeline {
  exec(): Promise<[error: Error | null, reply: unknown][] | null>;
}

/** A `Redis` or `Cluster` of `ioredis` or `iovalkey`. */
export interface IoredisClient {
  call(command: string, args: string[]): Promise<unknown>;
  pipeline(commands: unknown[][]): IoredisPipeline;
  /** Only in a `Cluster`. */
  nodes?(role: "all"): readonly {
    readonly options: { readonly host?: string | undefined; readonly port?: number | undefined };
    pipeline(commands: unknown[][]): IoredisPipeline;
  }[];
}

/**
 * Makes a `ValkeyClient` from an `ioredis` or `iovalkey` `Redis` or `Cluster`. Set `commandTimeout` and `maxRetriesPerRequest`
 * on it (for a `Cluster`, in its `redisOptions`): without them, a call waits for a server that is gone. These clients never
 * split a pipeline over two connections.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function fromIoredis(client: IoredisClient): ValkeyClient {
  checkMethods("client", client, ["call", "pipeline"], "a `Redis` or a `Cluster` from ioredis or iovalkey");
  return {
    // iovalkey and ioredis 5.4 find a command's keys only by its name in lowercase. Without keys, a request goes to any node.
    send: (_key, [name = "", ...words]) => client.call(name.toLowerCase(), words),
    sendTogether: async (_key, commands) => {
      const together = commands.map(([name = "", ...words]) => ["call", name.toLowerCase(), ...words]);
      const replies = await client.pipeline(together).exec();
      // A cluster client doesn't redirect pipelines that write. While a slot is being moved, only its target node can answer.
      const address = askedAddress(replies?.[0]?.[0]);
      const node =
        address && client.nodes?.("all").find(({ options: { host, port } }) => `${host}:${port}` === address);
      if (!node) return repliesOf(replies);
      return repliesOf(await node.pipeline([["call", "ASKING"], ...together]).exec()).slice(1);
    },
  };
}

function repliesOf(replies: Awaited<ReturnType<IoredisPipeline["exec"]>>): readonly unknown[] {
  return (replies ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
}
