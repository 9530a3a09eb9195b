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
 * Makes a `ValkeyClient` of a `GlideClient` or a `GlideClusterClient`. Its `requestTimeout` is 250 ms by default. For `acknowledgedBy` give
 * the class of its batches too: `fromGlide(client, Batch)`, or `ClusterBatch` for a cluster.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function fromGlide<Batch extends GlideBatch>(
  client: GlideClientLike<Batch>,
  BatchClass?: new (isAtomic: boolean) => Batch,
): ValkeyClient {
  checkMethods("client", client, ["customCommand", "exec"], "give a `GlideClient` or a `GlideClusterClient`");
  const to = (key: string) => ({ route: { type: "primarySlotKey", key } });
  return {
    send: (key, command) => client.customCommand([...command], to(key)),
    sendTogether:
      BatchClass &&
      (async (key, commands) => {
        const batch = new BatchClass(false);
        for (const command of commands) batch.customCommand([...command]);
        return (await client.exec(batch, true, to(key))) ?? [];
      }),
  };
}
