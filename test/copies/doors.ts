// Stores, and ways to run work once: whatever one copy makes of them, another copy uses.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Writable } from "node:stream";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import middy from "@middy/core";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import type { Execution, Store } from "onceonly";
import { keyService } from "../stores/privacy-given.ts";
import type { Copy } from "./given.ts";

type AnyStore = Store<never>;
const noLookFirst = { leaseSeconds: 30 } as const;

/** Makes a base store of one copy, over what the other copies can't see. */
export const BASES: Readonly<Record<string, (copy: Copy, peer: Copy) => AnyStore | Promise<AnyStore>>> = {
  "testing.MemoryStore": (copy) => new copy.testing.MemoryStore() as never,
  "dynamodb.DynamoDBStore": async (copy, peer) => {
    // The model is of the other copy, and so is the error that it answers with.
    const model = new peer.aws.DynamoDBModel();
    const client = new DynamoDBClient({
      region: "us-east-1",
      credentials: { accessKeyId: "a", secretAccessKey: "b" },
      requestHandler: model.requestHandler(),
    });
    await model.call("CreateTable", {
      TableName: "records",
      KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
      AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
      BillingMode: "PAY_PER_REQUEST",
    });
    return new copy.dynamodb.DynamoDBStore({ client, tableName: "records" }) as never;
  },
};

const keys = keyService();
const away = () => Promise.reject(new Error("away"));
const s3 = { putObject: away, getObject: away, listObjectVersions: away, deleteObject: away };

/** Stores in front of another one. */
export const FRONTS: Readonly<Record<string, (copy: Copy, store: AnyStore) => AnyStore>> = {
  "stores.cached": ({ stores }, store) => stores.cached(store),
  "stores.encrypted": ({ stores }, store) => stores.encrypted(store, { keys }),
  "stores.redacted": ({ stores }, store) => stores.redacted(store, ((result: unknown) => result) as never),
  "stores.migrating": ({ stores, testing }, store) =>
    stores.migrating(store, new testing.MemoryStore() as never),
  "stores.offloaded": ({ stores }, store) => stores.offloaded(store, { bucket: "results", client: s3 }),
  "main.watchNewKeys": ({ main }, store) => main.watchNewKeys(store, { observe: () => {} }),
};

type Work = (execution: Execution<never>) => unknown;
/** Runs `work` once under the key "k1", in a call; resolves to the answer, as far as the door has one. */
type Call = () => Promise<unknown>;

const http = (key = "k1") => ({
  version: "2.0",
  rawPath: "/orders",
  rawQueryString: "",
  headers: { "idempotency-key": key, "content-type": "application/json" },
  body: '{"cents":5}',
  isBase64Encoded: false,
  requestContext: { http: { method: "POST" } },
});
const options = (store: AnyStore) => ({ operation: "charge", store, ...noLookFirst });
const httpOptions = (store: AnyStore) => ({ ...options(store), scope: () => "acme" });
const aContext = ({ testing }: Copy) => testing.fakeLambdaContext({ clock: { now: Date.now } });
const answer = (body: unknown) => ({ statusCode: 200, body: JSON.stringify(body) });

async function served(listener: Parameters<typeof createServer>[1], key = "k1") {
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  try {
    const { port } = server.address() as AddressInfo;
    const { headers, body } = http(key);
    const response = await fetch(`http://127.0.0.1:${port}/orders`, { method: "POST", headers, body });
    return response.ok ? await response.json() : { status: response.status, text: await response.text() };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const kafka = (key: string, { consumers }: Copy) => ({
  topic: "orders",
  partition: 0,
  message: {
    offset: "5",
    timestamp: "1700000000000",
    value: Buffer.from("a box"),
    headers: consumers.envelopeHeaders({ key }),
  },
  heartbeat: async () => {},
});

/**
 * `copy` makes the door. `peer` makes what is passed to it beside the store: contexts, events, `executionOf`, what keeps bodies.
 */
export const DOORS: Readonly<Record<string, (copy: Copy, store: AnyStore, work: Work, peer: Copy) => Call>> =
  {
    "main.runOnce":
      ({ main }, store, work) =>
      () =>
        main.runOnce(options(store), "k1", "in", work),
    "main.once": ({ main }, store, work) => {
      const decorate = main.once<[string], never>({ ...options(store), key: (key) => key });
      const method = async (_key: string, own?: Execution<never>) => work(own!);
      const decorated = decorate(Object, "charge", { value: method }).value!;
      return () => decorated("k1");
    },
    "main.idempotent": ({ main }, store, work, peer) => {
      const handler = main.idempotent((_event, { idempotency }) => work(idempotency), {
        ...options(store),
        key: () => "k1",
      });
      return () => handler({}, aContext(peer)) as Promise<unknown>;
    },
    "main.httpIdempotent": ({ main }, store, work, peer) => {
      const handler = main.httpIdempotent(
        async (_event: unknown, { idempotency }) => answer(await work(idempotency)),
        httpOptions(store) as never,
      );
      return async () =>
        JSON.parse(((await handler(http() as never, aContext(peer))) as { body: string }).body);
    },
    "main.idempotency": ({ main }, store, work, peer) => {
      const once = main.idempotency<unknown, never>({ ...options(store), key: () => "k1" });
      const inner = once.handler(async (_event, { idempotency }) => work(idempotency));
      const handler = middy(inner as never).use(once as never);
      return () => (handler as (event: object, context: object) => Promise<unknown>)({}, aContext(peer));
    },
    "main.httpIdempotency": ({ main }, store, work, peer) => {
      const once = main.httpIdempotency(httpOptions(store) as never);
      const handler = middy(async (_event: unknown, context: unknown) =>
        answer(await work((context as { idempotency: Execution<never> }).idempotency)),
      ).use(once as never);
      const call = handler as unknown as (event: object, context: object) => Promise<{ body: string }>;
      return async () => JSON.parse((await call(http(), aContext(peer))).body);
    },
    "main.idempotentBatch": ({ main }, store, work, peer) => {
      const handler = main.idempotentBatch((_record, { idempotency }) => work(idempotency), {
        ...options(store),
        onRecordError: (error: unknown) => {
          throw error;
        },
      } as never);
      const record = {
        messageId: "m1",
        body: "a box",
        eventSource: "aws:sqs",
        eventSourceARN: "arn:aws:sqs:us-east-1:1:orders",
        messageAttributes: {},
        attributes: {},
      };
      return async () => void (await handler({ Records: [record] } as never, aContext(peer)));
    },
    "main.idempotentEach": ({ main }, store, work, peer) => {
      const handler = main.idempotentEach((_item: unknown, { idempotency }) => work(idempotency as never), {
        ...options(store),
        key: () => "k1",
      } as never);
      return async () => ((await handler([{}] as never, aContext(peer))) as unknown[])[0];
    },
    "main.httpIdempotentStream": ({ main }, store, work, peer) => {
      const handler = main.httpIdempotentStream(async (_event: unknown, stream, { idempotency }) => {
        stream.end(answer(await work(idempotency as never)).body);
      }, httpOptions(store) as never);
      return async () => {
        const parts: Buffer[] = [];
        const write = (chunk: Buffer, _encoding: string, done: () => void) => {
          parts.push(Buffer.from(chunk));
          done();
        };
        const stream = Object.assign(new Writable({ write }), { setContentType: () => {} });
        await handler(http() as never, stream, aContext(peer));
        return JSON.parse(Buffer.concat(parts).toString().split("\0").at(-1) ?? "");
      };
    },
    "main.lock": ({ main }, store, work) => {
      let result: Promise<unknown> | undefined;
      return () => {
        result ??= main.lock(options(store), "k1", () => work(undefined as never));
        return result;
      };
    },
    "main.saga": ({ main }, store, work, peer) => {
      // Defined by one copy, run in an execution of the other.
      const saga = peer.main.saga<unknown, never>("order", [
        { name: "charge", run: () => work(undefined as never) },
      ]);
      return () =>
        main.runOnce<unknown, never>(options(store), "k1", "in", (execution) => saga.run(execution, {}));
    },
    "main.participant": ({ main }, store, work) => {
      const stock = main.participant({
        ...options(store),
        run: (_input: string, execution: Execution<never>) => work(execution),
        compensate: () => {},
      } as never) as unknown as { run(key: string, input: string): Promise<unknown> };
      return () => stock.run("k1", "in");
    },
    "agents.onceTool": ({ agents }, store, work) => {
      const tool = agents.onceTool<{ cents: number; idempotencyKey: string }, [], object, never>(
        async (_args, execution) => work(execution) as object,
        { operation: "charge", store, intent: ["cents"], scope: "public" },
      );
      return async () => {
        // Only a replay has the mark.
        const { onceonly: _, ...result } = (await tool({ cents: 5, idempotencyKey: "k1" })) as Record<
          string,
          unknown
        >;
        return result;
      };
    },
    "consumers.idempotentConsumer": ({ consumers }, store, work, peer) => {
      const consumer = consumers.idempotentConsumer(
        (_message: { key: string }, { idempotency }) => work(idempotency as never),
        options(store) as never,
        ({ key }) => ({
          name: "a message",
          content: "a box",
          envelope: peer.consumers.envelopeHeaders({ key }).OnceonlyEnvelope,
        }),
      );
      return async () => (await consumer({ key: "k1" })).end;
    },
    "consumers.kafkaEachMessage": ({ consumers }, store, work, peer) => {
      const each = consumers.kafkaEachMessage(
        (_message, { idempotency }) => work(idempotency as never),
        options(store) as never,
      );
      return () => each(kafka("k1", peer) as never);
    },
    "http.expressIdempotency": (copy, store, work, peer) => {
      const app = express();
      app.use(express.json({ verify: peer.http.keepBody }));
      app.post("/orders", copy.http.expressIdempotency(httpOptions(store) as never), async (req, res) => {
        res.json(await work(peer.http.executionOf(req) as never));
      });
      return () => served(app);
    },
    "http.fastifyIdempotency": (copy, store, work, peer) => async () => {
      const app = fastify();
      app.post(
        "/orders",
        copy.http.fastifyIdempotency(httpOptions(store) as never) as never,
        async (request) => work(peer.http.executionOf(request) as never),
      );
      const { headers, body } = http();
      const reply = await app.inject({ method: "POST", url: "/orders", headers, body });
      await app.close();
      return reply.json();
    },
    "http.honoIdempotency": (copy, store, work, peer) => {
      const app = new Hono();
      app.post("/orders", copy.http.honoIdempotency(httpOptions(store) as never) as never, async (context) =>
        context.json((await work(peer.http.executionOf(context) as never)) as object),
      );
      const { headers, body } = http();
      return async () => (await app.request("/orders", { method: "POST", headers, body })).json();
    },
    "http.fetchIdempotency": (copy, store, work) => {
      const handler = copy.http.fetchIdempotency(httpOptions(store) as never);
      const { headers, body } = http();
      return async () => {
        const request = new Request("http://shop.example/orders", { method: "POST", headers, body });
        const next = async (_given: Request, execution: unknown) =>
          Response.json(await work(execution as never));
        return (await handler(request, next)).json();
      };
    },
  };
