// Every way to answer on Fastify: bare beside onceonly.
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { executionOf, fastifyIdempotency } from "onceonly/http";
import { root } from "../kit/project.ts";
import { NODE_ANSWERS, type NodeHandle } from "./cases/node-answers.ts";
import { withDefaults } from "./given.ts";
import { type Row as AnyRow, ROW_OPTIONS, type StartRows, table } from "./rows.ts";

type Handle = (request: FastifyRequest, reply: FastifyReply) => unknown;
type Row = AnyRow<Handle>;
const LICENSE = join(root, "LICENSE");
const teapot = () => Object.assign(new Error("short and stout"), { statusCode: 418 });
const web = (...parts: unknown[]) =>
  new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });

const withTrailer = (reply: FastifyReply) => {
  reply.trailer("x-sum", async () => "42");
  return reply;
};
const withFailingTrailer = (reply: FastifyReply) => {
  reply.trailer("x-sum", async () => Promise.reject(new Error("no sum")));
  return reply;
};
const withHints = (reply: FastifyReply) => {
  reply.writeEarlyHints({ link: "</a.css>" });
  return reply;
};

const FASTIFY_ANSWERS: readonly Row[] = [
  ["a returned object", "equal", async () => ({ id: 1 })],
  ["a returned text", "equal", async () => "made"],
  ["a returned Buffer", "equal", async () => Buffer.from([0, 255, 7])],
  ["a returned null", "equal", async () => null],
  ["nothing", "equal", async () => {}],
  ["send of an object", "equal", (_request, reply) => void reply.code(201).send({ id: 1 })],
  ["send of a text", "equal", (_request, reply) => reply.code(201).send("made")],
  ["send of a text with a type", "equal", (_request, reply) => reply.type("text/html").send("<b>made</b>")],
  ["send of a number as JSON", "equal", (_request, reply) => reply.send(7)],
  ["send of a Uint16Array", "equal", (_request, reply) => reply.send(Uint16Array.from([1, 2, 3]))],
  ["send of nothing", "equal", (_request, reply) => reply.code(201).send()],
  ["send, not awaited, of an async handler", "equal", async (_request, reply) => void reply.send("made")],
  [
    "a stream of bytes",
    "equal",
    (_request, reply) => reply.send(Readable.from([Buffer.from("a"), Buffer.from("b")])),
  ],
  ["a stream of texts", "equal", (_request, reply) => reply.send(Readable.from(["one ", "two"]))],
  ["a file", "equal", (_request, reply) => reply.type("text/plain").send(createReadStream(LICENSE))],
  [
    "a web stream of bytes",
    "equal",
    (_request, reply) => reply.send(web(Buffer.from("one "), Buffer.from("two"))),
  ],
  ["a web stream of texts", "equal", (_request, reply) => reply.send(web("one ", "two"))],
  ["a Response", "equal", async () => new Response("made", { status: 201, headers: { "x-a": "1" } })],
  ["a Response of JSON", "equal", async () => Response.json({ id: 1 }, { status: 202 })],
  [
    "a Response with a stream of texts",
    "equal",
    async () => new Response(web(Buffer.from("one ")), { status: 201 }),
  ],
  ["a Response without a body", "equal", async () => new Response(null, { status: 204 })],
  ["a redirect", "equal", (_request, reply) => reply.redirect("/orders/1")],
  ["a redirect with 303", "equal", (_request, reply) => reply.redirect("/orders/1", 303)],
  [
    "headers with several values",
    "equal",
    (_request, reply) => reply.header("link", ["<a>", "<b>"]).send("x"),
  ],
  [
    "cookies",
    "equal",
    (_request, reply) => reply.header("set-cookie", "a=1").header("set-cookie", "b=2").send("x"),
  ],
  [
    "a status message",
    "equal",
    (_request, reply) => Object.assign(reply.raw, { statusMessage: "Made" }) && reply.send("x"),
  ],
  ["204 with a body, which Fastify drops", "equal", (_request, reply) => reply.code(204).send("dropped")],
  ["304", "equal", (_request, reply) => reply.code(304).send()],
  ["a serializer", "equal", (_request, reply) => reply.serializer(() => "serialized").send({ id: 1 })],
  ["early hints", "equal", (_request, reply) => withHints(reply).send("x")],
  ["trailers", "equal", (_request, reply) => withTrailer(reply).send({ id: 1 })],
  [
    "trailers of a stream",
    "equal",
    (_request, reply) => withTrailer(reply).send(Readable.from(["one ", "two"])),
  ],
  [
    "R6: send, and then an error is thrown",
    "equal",
    async (_request, reply) => {
      reply.code(201).send("made");
      throw teapot();
    },
  ],
  [
    "R6: send, and an error is thrown later",
    "equal",
    async (_request, reply) => {
      reply.code(201).send("made");
      await new Promise(setImmediate);
      throw teapot();
    },
  ],
  [
    "the reply, returned before it is sent",
    "equal",
    async (_request, reply) => {
      setImmediate(() => reply.code(201).send({ id: 1 }));
      return reply;
    },
  ],
  [
    "a status in the return type of a callback",
    "equal",
    (_request, reply) => void setImmediate(() => reply.status(202).send("made")),
  ],
  [
    "send of an ArrayBuffer",
    "unrecorded",
    (_request, reply) => reply.type("a/b").send(Uint8Array.from([1, 2]).buffer),
  ],
  ["send of a boolean", "equal", (_request, reply) => reply.type("application/json").send(true)],
  ["send of a Date", "equal", (_request, reply) => reply.send(new Date(0))],
  ["send of a list", "equal", (_request, reply) => reply.send([1, { a: 2 }])],
  ["a header beyond ASCII", "equal", (_request, reply) => reply.header("x-name", "café").send("made")],
  [
    "headers, and one that is removed",
    "equal",
    (_request, reply) => reply.headers({ "x-a": "1", "x-b": "2" }).removeHeader("x-a").send("x"),
  ],
  [
    "a stream with a content-length",
    "equal",
    (_request, reply) => reply.header("content-length", 6).send(Readable.from(["one ", "tw"])),
  ],
  ["an empty stream", "equal", (_request, reply) => reply.send(Readable.from([]))],
  ["an empty web stream", "equal", (_request, reply) => reply.send(web())],
  [
    "a Response with cookies",
    "equal",
    async () =>
      new Response("x", {
        headers: [
          ["set-cookie", "a=1"],
          ["set-cookie", "b=2"],
        ],
      }),
  ],
  [
    "a Response with a status text",
    "equal",
    async () => new Response("x", { status: 201, statusText: "Made" }),
  ],
  ["a Response of a Blob", "equal", async () => new Response(new Blob(["made"], { type: "text/x-order" }))],
  ["a pipe into raw", "equal", (_request, reply) => void createReadStream(LICENSE).pipe(reply.raw)],
  [
    "trailers of a promise that fails",
    "equal",
    (_request, reply) => withFailingTrailer(reply).send({ id: 1 }),
  ],
  [
    "a serializer that throws",
    "unrecorded",
    (_request, reply) =>
      reply
        .serializer(() => {
          throw teapot();
        })
        .send({ id: 1 }),
  ],
  ["send of a function", "unrecorded", (_request, reply) => reply.type("text/plain").send(() => 1)],
  [
    "send of an object with a text type",
    "unrecorded",
    (_request, reply) => reply.type("text/plain").send({ a: 1 }),
  ],
  ["send of a BigInt", "unrecorded", (_request, reply) => reply.send({ id: 1n })],
  ["a value that isn't an Error is thrown", "unrecorded", async () => Promise.reject("no error")],
  [
    "a stream that fails at once",
    "unrecorded",
    (_request, reply) =>
      reply.send(
        new Readable({
          read() {
            this.destroy(new Error("disk"));
          },
        }),
      ),
  ],
  ["send twice", "equal", (_request, reply) => void [reply.send("first"), reply.send("second")]],
  [
    "send, and a returned value",
    "equal",
    async (_request, reply) => {
      reply.code(201).send("made");
      return "another";
    },
  ],
  [
    "raw.end of an async handler",
    "equal",
    async (_request, reply) => void reply.raw.writeHead(201).end("raw"),
  ],
  [
    "a hijack that answers later",
    "equal",
    async (_request, reply) => {
      reply.hijack();
      setImmediate(() => reply.raw.writeHead(201, { "x-a": "1" }).end("raw"));
    },
  ],
  [
    "a hijack with headers of the reply",
    "equal",
    (_request, reply) => reply.header("x-a", "1").hijack().raw.end("raw") && undefined,
  ],
  [
    "a raw list of headers in which a name comes twice",
    "equal",
    (_request, reply) =>
      void reply
        .hijack()
        .raw.writeHead(201, ["link", "<a>", "link", "<b>", "set-cookie", "a=1", "set-cookie", "b=2"])
        .end(),
  ],
  ["an error is thrown", "unrecorded", async () => Promise.reject(teapot())],
  ["an error is sent", "unrecorded", (_request, reply) => reply.send(teapot())],
  ["an error is returned", "unrecorded", async () => teapot()],
  ["an error status", "unrecorded", (_request, reply) => reply.code(422).send({ sold: "out" })],
  ["callNotFound", "unrecorded", (_request, reply) => void reply.callNotFound()],
  ["a status that Fastify refuses", "unrecorded", (_request, reply) => reply.code(99).send("x")],
  [
    "a file that isn't there",
    "unrecorded",
    (_request, reply) => reply.send(createReadStream(join(root, "none"))),
  ],
  [
    "a Response whose body was read",
    "unrecorded",
    async () => {
      const response = new Response("read");
      await response.text();
      return response;
    },
  ],
  [
    "a stream that fails after a part",
    "broken",
    (_request, reply) =>
      reply.send(
        Readable.from(
          (async function* () {
            yield "a part";
            await new Promise(setImmediate);
            throw new Error("the disk is gone");
          })(),
        ),
      ),
  ],
  [
    "a stream of objects",
    { refused: /handler wrote an object/ },
    (_request, reply) => reply.send(Readable.from([{ a: 1 }])),
  ],
  [
    "a web stream of objects",
    { refused: /handler wrote an object/ },
    (_request, reply) => reply.send(web({ a: 1 })),
  ],
  [
    "a stream of events after a hijack",
    { refused: /event stream/ },
    (_request, reply) =>
      void reply.hijack().raw.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n"),
  ],
  [
    "a stream of events that is sent",
    { refused: /event stream/ },
    (_request, reply) => reply.type("text/event-stream").send(Readable.from(["data: 1\n\n"])),
  ],
];

const raw = ([title, promised, handle, sending]: AnyRow<NodeHandle>): Row => [
  `raw: ${title}`,
  promised,
  async (request, reply) => {
    reply.hijack();
    await handle(request.raw, reply.raw);
  },
  sending,
];

const start: StartRows<Handle> = async (handles, onRun) => {
  const app = fastify();
  for (const [at, handle] of handles.entries())
    app.post(`/${at}`, { ...(onRun && fastifyIdempotency(withDefaults(ROW_OPTIONS))) }, (request, reply) => {
      if (onRun && executionOf(request).key === "key-1") onRun(at);
      return handle(request, reply);
    });
  await app.listen({ port: 0, host: "127.0.0.1" });
  return { server: app.server, close: () => app.close() };
};

table("H83: A3: answers of Fastify", [...FASTIFY_ANSWERS, ...NODE_ANSWERS.map(raw)], start);
