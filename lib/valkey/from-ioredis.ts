/** The adapter for `ioredis` and `iovalkey`. */
import { checkMethods } from "../core/option-checks.ts";
import type { ValkeyClient } from "./valkey-client.ts";

/** What `pipeline` of ioredis and iovalkey makes. */
export interface IoredisPipeline {
  exec(): Promise<[error: Error | null, reply: unknown][] | null>;
}

/** A `Redis` or `Cluster` of `ioredis` or `iovalkey`. */
export interface IoredisClient {
  call(command: string, args: string[]): Promise<unknown>;
  pipeline(commands: unknown[][]): IoredisPipeline;
}

/**
 * Makes a `ValkeyClient` of a `Redis` or a `Cluster` of `ioredis` or `iovalkey`. Give it `commandTimeout` and
 * `maxRetriesPerRequest`: without them a call waits for a server that is gone. A pipeline of these clients is never sent half over one connection
 * and half over another one.
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
      const replies = await client.pipeline(commands.map((command) => ["call", ...command])).exec();
      return (replies ?? []).map(([error, reply]) => {
        if (error) throw error;
        return reply;
      });
    },
  };
}
