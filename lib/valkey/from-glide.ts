/** The adapter for `@valkey/valkey-glide`. */
import { checkMethods } from "../core/option-checks.ts";
import type { ValkeyClient } from "./valkey-client.ts";

/** A `Batch` or `ClusterBatch` of `@valkey/valkey-glide`. */
export interface GlideBatch {
  customCommand(args: string[]): unknown;
}

/** A `GlideClient` or `GlideClusterClient` of `@valkey/valkey-glide`. */
export interface GlideClientLike<Batch extends GlideBatch> {
  customCommand(args: string[], options?: object): Promise<unknown>;
  exec(batch: Batch, raiseOnError: boolean, options?: object): Promise<readonly unknown[] | null>;
}

/**
 * Fails on a node that doesn't have the key. Names no key, so that glide doesn't redirect it. Without it, glide would run the
 * script on the node that has the key now, and count the replicas of the node that had it before.
 */
const IS_HERE = ["EVAL", "return redis.call('HGET', ARGV[1], 'token')", "0"];

/**
 * Makes a `ValkeyClient` from a `GlideClient` or a `GlideClusterClient`. Its `requestTimeout` is 250 ms by default. For
 * `acknowledgedBy`, also pass its batch class: `fromGlide(client, Batch)`, or `ClusterBatch` for a cluster.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function fromGlide<Batch extends GlideBatch>(
  client: GlideClientLike<Batch>,
  BatchClass?: new (isAtomic: boolean) => Batch,
): ValkeyClient {
  checkMethods("client", client, ["customCommand", "exec"], "a `GlideClient` or a `GlideClusterClient`");
  const to = (key: string) => ({ route: { type: "primarySlotKey", key } });
  return {
    send: (key, command) => client.customCommand([...command], to(key)),
    sendTogether:
      BatchClass &&
      (async (key, commands) => {
        const batch = new BatchClass(false);
        for (const command of [...commands, [...IS_HERE, key]]) batch.customCommand([...command]);
        const replies = (await client.exec(batch, true, to(key))) ?? [];
        return replies.slice(0, commands.length);
      }),
  };
}
