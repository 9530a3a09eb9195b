// A stream of NATS, with a consumer; the server reports a message that it gives up.
import { AckPolicy, type ConsumerConfig, type JsMsg, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, headers as natsHeaders } from "@nats-io/transport-node";
import { type NatsOptions, natsConsumer } from "onceonly/consumers";
import { afterwards, type Bench, brokerPort, freshName } from "./given.ts";

async function natsConnection() {
  const connection = await connect({ servers: `127.0.0.1:${await brokerPort("NATS")}`, reconnect: false });
  afterwards(() => connection.close().catch(() => {}));
  return connection;
}

const SECOND = 1_000_000_000;

/** @param more settings of the consumer */
export async function natsBench(more: Partial<ConsumerConfig> = {}) {
  const stream = freshName();
  const connection = await natsConnection();
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: stream, subjects: [stream] });
  const config = { durable_name: "shop", ack_policy: AckPolicy.Explicit, ack_wait: SECOND, ...more };
  await manager.consumers.add(stream, config);
  let givenUp = 0;
  connection.subscribe(`$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.${stream}.>`, {
    callback: () => {
      givenUp++;
    },
  });
  await connection.flush();
  const client = jetstream(connection);
  const bench: Bench = {
    async send(text, headers = {}) {
      const given = natsHeaders();
      for (const [name, value] of Object.entries(headers)) given.append(name, value);
      await client.publish(stream, text, { headers: given });
    },
    async consume(handle, options) {
      const own = await natsConnection();
      const atWork = new Set<Promise<void>>();
      const consumer = natsConsumer<JsMsg, never>(
        (message, { idempotency }) => handle(message.string(), idempotency),
        { workingSeconds: 0.3, ...options } as NatsOptions<JsMsg, never>,
      );
      const messages = await (await jetstream(own).consumers.get(stream, "shop")).consume({
        callback: (message) => {
          const work = consumer(message).finally(() => atWork.delete(work));
          atWork.add(work);
        },
      });
      return {
        cut: () =>
          (
            own as unknown as { protocol: { transport: { socket: { destroy(): void } } } }
          ).protocol.transport.socket.destroy(),
        async stop() {
          messages.stop();
          await Promise.all(atWork);
          await own.drain();
        },
      };
    },
    async left() {
      const { ack_floor: floor } = await manager.consumers.info(stream, "shop");
      const { state } = await manager.streams.info(stream);
      return state.last_seq - floor.stream_seq;
    },
    aside: async () => givenUp,
  };
  return { ...bench, stream };
}
