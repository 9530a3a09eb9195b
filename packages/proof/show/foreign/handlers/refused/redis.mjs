import { Redis } from "ioredis";

const redis = new Redis({ host: process.env.REDIS_HOST, lazyConnect: true, retryStrategy: null });

export const handler = async ({ body }) => {
  const { orderId } = JSON.parse(body);
  const isFirst = await redis.set(`order:${orderId}`, "1", "EX", 3600, "NX");
  if (!isFirst) return { statusCode: 200, body: "seen before" };
  await redis.lpush("orders", orderId);
  return { statusCode: 201, body: orderId };
};
