// Handlers that the explorer refuses, each with its reason.
import { post } from "./events.ts";
import type { RefusedHandler } from "./foreign-handler.ts";

const FOREIGN =
  "[a client that makes its requests by `foreignRequest`](../reference/simulator.md#databases-outside-of-the-simulation)";
const order = { orderId: "o-1", amount: 500 };

export const REFUSED_HANDLERS: readonly RefusedHandler[] = [
  {
    file: "postgres.ts",
    shape: "pg, a pool in the module",
    env: { PGHOST: "127.0.0.1" },
    event: post("/orders", order),
    refusal: "a connection to 127.0.0.1:5432",
    why: "The driver has its own connections and its own protocol. A simulation of SQL would be another database than yours.",
    instead: `a real PostgreSQL, and ${FOREIGN}`,
  },
  {
    file: "redis.mjs",
    shape: "ioredis",
    env: { REDIS_HOST: "127.0.0.1" },
    event: post("/orders", order),
    refusal: "a connection to 127.0.0.1:6379",
    why: "As above.",
    instead: `a real Redis or Valkey, and ${FOREIGN}`,
  },
  {
    file: "kafka.cjs",
    shape: "kafkajs producer",
    env: { BROKER: "127.0.0.1:9092" },
    event: { detail: order },
    refusal: "a connection to 127.0.0.1:9092",
    why: "As above.",
    instead: "send through the outbox, and explore the handler that commits",
  },
  {
    file: "undici.mjs",
    shape: "undici's `request`",
    env: { PAYMENTS_URL: "https://payments.example" },
    event: order,
    refusal: "a connection to payments.example:443",
    why: "Unlike `fetch`, undici's own functions can't be replaced: each copy has its own connections.",
    instead: "`fetch`, with the other system in `outside`",
  },
  {
    file: "push-http2.cjs",
    shape: "node:http2, as for Apple's push notifications",
    env: { PUSH_URL: "https://push.example" },
    event: { device: "d-1", text: "hi" },
    refusal: "a connection to push.example:443",
    why: "HTTP/2 is simulated for the AWS SDK's Kinesis client only.",
    instead: "put the push behind a queue, and explore the handler that sends to it",
  },
  {
    file: "stream-response.mjs",
    shape: "a streamed response, `awslambda.streamifyResponse`",
    env: { QUESTIONS_TABLE: "questions" },
    event: post("/questions", { questionId: "q-1", text: "why?" }),
    options: { tables: { questions: { partitionKey: "questionId" } } },
    refusal: "awslambda",
    why: "The global object exists only in Lambda. A response of which a part has been sent can't be replayed anyway.",
    instead: "explore the function inside that does the work",
  },
  {
    file: "convert-video.cjs",
    shape: "a program in a layer, such as ffmpeg",
    env: { FFMPEG: "/opt/bin/ffmpeg", IMAGES_BUCKET: "images" },
    event: { video: "v-1" },
    options: { buckets: { images: {} } },
    refusal: "the process /opt/bin/ffmpeg",
    why: "What another process sends can't be seen, and it runs in real time.",
    instead: "pass the conversion in as a function, and explore with one that needs no process",
  },
  {
    file: "worker-thread.cjs",
    shape: "node:worker_threads",
    env: { PARTNER_URL: "https://partner.example" },
    event: order,
    refusal: "a worker thread",
    why: "As above.",
    instead: "as above",
  },
];
