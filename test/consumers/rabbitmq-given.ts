// A queue of RabbitMQ, with a dead-letter queue.
import { type ConsumeMessage, connect } from "amqplib";
import { type RabbitMqOptions, rabbitMqConsumer } from "onceonly/consumers";
import { afterwards, type Bench, brokerPort, freshName, type Handle, type Options } from "./given.ts";

export const PREFETCH = 10;

async function rabbitConnection() {
  const connection = await connect(`amqp://guest:guest@127.0.0.1:${await brokerPort("RabbitMQ")}`);
  // These tests cut connections.
  connection.on("error", () => {});
  afterwards(() => connectionSocket(connection).destroy());
  return connection;
}

/** @param more arguments of the queue */
export async function rabbitBench(more: Readonly<Record<string, unknown>> = {}) {
  const queue = freshName();
  const dead = `${queue}-dead`;
  const channel = await (await rabbitConnection()).createConfirmChannel();
  const args = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead, ...more };
  await channel.assertQueue(queue, { durable: true, arguments: args });
  await channel.assertQueue(dead);
  const bench = {
    async send(text: string, headers: Readonly<Record<string, string>> = {}) {
      channel.sendToQueue(queue, Buffer.from(text), { headers });
      await channel.waitForConfirms();
    },
    async consume(handle: Handle, options: Options) {
      const connection = await rabbitConnection();
      const own = await connection.createChannel();
      own.on("error", () => {});
      await own.prefetch(PREFETCH);
      const atWork = new Set<Promise<void>>();
      const consumer = rabbitMqConsumer<ConsumeMessage, never>(
        own,
        (message, { idempotency }) => handle(`${message.content}`, idempotency),
        options as RabbitMqOptions<ConsumeMessage, never>,
      );
      const { consumerTag } = await own.consume(queue, (message) => {
        const work = consumer(message).finally(() => atWork.delete(work));
        atWork.add(work);
      });
      return {
        channel: own,
        cut: () => connectionSocket(connection).destroy(),
        async stop() {
          await own.cancel(consumerTag);
          await Promise.all(atWork);
          await own.close();
        },
      };
    },
    left: async () => (await channel.checkQueue(queue)).messageCount,
    aside: async () => (await channel.checkQueue(dead)).messageCount,
  } satisfies Bench;
  return { ...bench, queue, dead, channel };
}

const connectionSocket = (connection: object) =>
  (connection as { connection: { stream: { destroy(): void } } }).connection.stream;
