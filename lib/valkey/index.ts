/** Entry "onceonly/valkey": the store for Valkey and Redis, a cache in front of other stores, and adapters for their clients. */
export { fromGlide, type GlideBatch, type GlideClientLike } from "./from-glide.ts";
export { fromIoredis, type IoredisClient, type IoredisPipeline } from "./from-ioredis.ts";
export { fromNodeRedis, type NodeRedisClient, type NodeRedisCluster } from "./from-node-redis.ts";
export type { Acknowledgement, ValkeyRisk, ValkeyStoreOptions } from "./options.ts";
export { type ValkeyCacheOptions, valkeyCache } from "./valkey-cache.ts";
export type { ValkeyClient } from "./valkey-client.ts";
export { ValkeyStore } from "./valkey-store.ts";
export type { ValkeyWrite } from "./writes.ts";
