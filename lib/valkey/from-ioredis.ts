/** The adapter for `ioredis` and `iovalkey`. */
import { checkMethods } from "../core/option-checks.ts";
import { askedAddress } from "./failures.ts";
import type { ValkeyClient } from "./valkey-client.ts";

/** What `pipeline` of ioredis and iovalkey makes. */
export interface IoredisPipeline {
  exec(): Promise<[error: Error | null, reply: unknown][] | null>;
}

/** A `Redis` or `Cluster` of `ioredis` or `iovalkey`. */
export interface IoredisClient {
  call(command: string, args: string[]): Promise<unknown>;
  pipeline(commands: unknown[][]): IoredisPipeline;
  /** Of a `Cluster`. */
  nodes?(role: "all"): readonly {
    readonly options: { readonly host?: string | undefined; readonly port?: number | undefined };
    pipeline(commands: unknown[][]): IoredisPipeline;
  }[];
}

/**
 * Makes a `ValkeyClient` of a `Redis` or a `Cluster` of `ioredis` or `iovalkey`. Give it `commandTimeout` and
 * `maxRetriesPerRequest` (a `Cluster` in its `redisOptions`): without them a call waits for a server that is gone. A pipeline of these
 * clients is never sent half over one connection and half over another one.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function fromIoredis(client: IoredisClient): ValkeyClient {
  checkMethods(
    "client",
    client,
    ["call", "pipeline"],
    "give a `Redis` or a `Cluster` of ioredis or iovalkey",
  );
  return {
    send: (_key, [name = "", ...args]) => client.call(name, args),
    sendTogether: async (_key, commands) => {
      const together = commands.map((command) => ["call", ...command]);
      const replies = await client.pipeline(together).exec();
      // A cluster redirects no pipeline that wrote something. While a slot is being moved only the node it goes to can answer.
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
