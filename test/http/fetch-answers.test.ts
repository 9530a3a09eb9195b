// Every way to answer with a Response, by itself and on Hono: bare beside onceonly.
import { createReadStream } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { createAdaptorServer } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { stream, streamSSE, streamText } from "hono/streaming";
import { executionOf, fetchIdempotency, honoIdempotency } from "onceonly/http";
import { Response as OtherResponse } from "undici";
import { root } from "../kit/project.ts";
import { NODE_ANSWERS, type NodeHandle } from "./cases/node-answers.ts";
import { withDefaults } from "./given.ts";
import { ROW_OPTIONS, type Row, type StartRows, table } from "./rows.ts";

type Answer = () => Response | Promise<Response>;
const LICENSE = join(root, "LICENSE");
/** Hono's server for Node adds a type to some answers without one, and a length to the very object. */
const text = () => ({ "content-type": "text/plain" });
const web = (...parts: unknown[]) =>
  new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
class TaggedResponse extends Response {
  readonly tag = "mine";
}

async function* parts() {
  yield Buffer.from("one ");
  yield Buffer.from("two");
}
const byob = () =>
  new ReadableStream({
    type: "bytes",
    start(controller) {
      controller.enqueue(Uint8Array.from([109, 97]));
      controller.close();
    },
  });

const RESPONSES: readonly Row<Answer>[] = [
  ["a text", "equal", () => new Response("made", { status: 201 })],
  ["no body", "equal", () => new Response(null, { status: 201 })],
  ["204", "equal", () => new Response(null, { status: 204 })],
  ["304", "equal", () => new Response(null, { status: 304, headers: { etag: '"1"' } })],
  ["JSON", "equal", () => Response.json({ id: 1, café: "✓" }, { status: 201 })],
  ["bytes", "equal", () => new Response(Uint8Array.from([0, 255, 7]))],
  [
    "a Blob",
    "equal",
    () => new Response(new Blob(["made"]), { headers: { "content-type": "text/x-order" } }),
  ],
  ["URLSearchParams", "equal", () => new Response(new URLSearchParams({ id: "1" }))],
  ["a redirect", "equal", () => Response.redirect("http://127.0.0.1/orders/1", 303)],
  ["a status text", "equal", () => new Response("x", { status: 201, statusText: "Order Made" })],
  [
    "headers that come twice",
    "equal",
    () =>
      new Response("x", {
        headers: [
          ["x-a", "1"],
          ["x-a", "2"],
        ],
      }),
  ],
  [
    "cookies",
    "equal",
    () =>
      new Response("x", {
        headers: [
          ["set-cookie", "a=1"],
          ["set-cookie", "b=2"],
        ],
      }),
  ],
  ["a subclass of Response", "equal", () => new TaggedResponse("made")],
  ["a stream of bytes", "equal", () => new Response(web(Buffer.from("one "), Buffer.from("two")))],
  ["a stream of texts", "equal", () => new Response(web("one ", "two"))],
  [
    "a stream of Node",
    "equal",
    () => new Response(Readable.toWeb(createReadStream(LICENSE)) as ReadableStream),
  ],
  [
    "a compressed body",
    "decoded",
    () => new Response(gzipSync("made"), { headers: { "content-encoding": "gzip", ...text() } }),
  ],
  ["an ArrayBuffer", "equal", () => new Response(Uint8Array.from([1, 2]).buffer)],
  ["a DataView", "equal", () => new Response(new DataView(Uint8Array.from([1, 2]).buffer))],
  ["an async generator", "equal", () => new Response(parts() as never)],
  ["a stream of bytes that can be read into a buffer", "equal", () => new Response(byob())],
  ["an empty stream", "equal", () => new Response(web())],
  [
    "a clone of a Response",
    "equal",
    () => {
      const response = new Response("made", { status: 201 });
      return response.clone();
    },
  ],
  [
    "a copy of a Response",
    "equal",
    () => new Response(new Response("made").body, { status: 202, headers: text() }),
  ],
  [
    "a content-length",
    "equal",
    () => new Response("made", { headers: { "content-length": "4", ...text() } }),
  ],
  ["205", "equal", () => new Response(null, { status: 205 })],
  [
    "a Response of another implementation",
    "equal",
    () => new OtherResponse("made", { status: 201, headers: { "x-a": "1" } }) as never,
  ],
  [
    "a body in an encoding that can't be read",
    { refused: /content-encoding is zstd/ },
    () => new Response("?", { headers: { "content-encoding": "zstd" } }),
  ],
  [
    "a body encoded twice",
    { refused: /content-encoding is gzip, br/ },
    () => new Response("?", { headers: { "content-encoding": "gzip, br" } }),
  ],
  [
    "a body that isn't in the encoding it names",
    { refused: /can't be decoded/ },
    () => new Response("plain", { headers: { "content-encoding": "gzip" } }),
  ],
  ["an error status", "unrecorded", () => new Response("sold out", { status: 422, statusText: "No Stock" })],
  ["an error is thrown", "unrecorded", () => Promise.reject(new Error("short and stout"))],
  ["Response.error()", { refused: /Response\.error/ }, () => Response.error()],
  [
    "a stream of events",
    { refused: /event stream/ },
    () => new Response("data: 1\n\n", { headers: { "content-type": "text/event-stream" } }),
  ],
  ["a body beyond the limit", { refused: /maxResponseBytes/ }, () => new Response("x".repeat(200_000))],
  [
    "a stream of objects",
    { refused: /produced an object instead of bytes/ },
    () => new Response(web({ a: 1 })),
  ],
  [
    "a stream that fails",
    { refused: /failed/ },
    () => new Response(new ReadableStream({ pull: (c) => c.error(new Error("disk")) })),
  ],
  [
    "a body that was read",
    { refused: /already been read/ },
    async () => {
      const response = new Response("read");
      await response.text();
      return response;
    },
  ],
  [
    "a body that is locked",
    { refused: /already been read/ },
    () => {
      const response = new Response(web("locked"));
      response.body?.getReader();
      return response;
    },
  ],
];

const NO_RESPONSES: readonly Row<Answer>[] = [
  ["nothing", { refused: /instead of a Response/ }, () => undefined as never],
  ["an object", { refused: /instead of a Response/ }, () => ({ id: 1 }) as never],
];

const failed = (error: Error) => Response.json({ failed: error.message }, { status: 500 });

const listeningTo = (fetch: (request: Request) => Response | Promise<Response>) => {
  const server = createAdaptorServer({ fetch }) as Server;
  return { server, close: () => server.close() };
};

const startFetch: StartRows<Answer> = async (handles, onRun) => {
  // One key for all rows: each has its own operation by its path.
  const middleware = fetchIdempotency(
    withDefaults({ ...ROW_OPTIONS, key: (request) => new URL((request as Request).url).pathname }),
  );
  return listeningTo((request) => {
    const at = Number(new URL(request.url).pathname.slice(1));
    const answer = async () => {
      if (onRun && executionOf(request).key === `/${at}`) onRun(at);
      return (handles[at] as Answer)();
    };
    return (onRun ? middleware(request, answer) : answer()).catch(failed);
  });
};

table("H83: A3: answers of the Fetch API", [...RESPONSES, ...NO_RESPONSES], startFetch);

type Handle = (c: Context) => Response | Promise<Response>;
const HONO_ANSWERS: readonly Row<Handle>[] = [
  ["c.text", "equal", (c) => c.text("made", 201)],
  ["c.json", "equal", (c) => c.json({ id: 1 }, 201, { "x-a": "1" })],
  ["c.html", "equal", (c) => c.html("<b>made</b>")],
  ["c.body of bytes", "equal", (c) => c.body(Uint8Array.from([0, 255, 7]))],
  ["c.body of nothing", "equal", (c) => c.body(null, 204)],
  ["c.redirect", "equal", (c) => c.redirect("/orders/1", 303)],
  ["c.newResponse", "equal", (c) => c.newResponse("made", 201, text())],
  [
    "c.header and c.status",
    "equal",
    (c) => {
      c.header("x-a", "1");
      c.header("x-a", "2", { append: true });
      c.status(202);
      return c.text("made");
    },
  ],
  [
    "c.res that is set",
    "equal",
    (c) => {
      c.res = new Response("set", { status: 201 });
      return undefined as never;
    },
  ],
  ["stream", "equal", (c) => stream(c, async (out) => void (await out.write(Uint8Array.from([1, 2]))))],
  ["streamText", "equal", (c) => streamText(c, async (out) => void (await out.writeln("made")))],
  [
    "the ServerResponse, and RESPONSE_ALREADY_SENT",
    "equal",
    (c) => {
      (c.env as { outgoing: ServerResponse }).outgoing.writeHead(201, text()).end("raw");
      return RESPONSE_ALREADY_SENT;
    },
  ],
  ["c.notFound", "unrecorded", (c) => c.notFound()],
  [
    "an HTTPException",
    "unrecorded",
    () => Promise.reject(new HTTPException(418, { message: "short and stout" })),
  ],
  [
    "streamSSE",
    { refused: /event stream/ },
    (c) => streamSSE(c, async (out) => void (await out.writeSSE({ data: "1" }))),
  ],
  ["nothing", { refused: /return a Response/ }, () => undefined as never],
  [
    "a stream of events past Hono",
    { refused: /event stream/ },
    (c) => {
      (c.env as { outgoing: ServerResponse }).outgoing
        .writeHead(200, { "content-type": "text/event-stream" })
        .write("data: 1\n\n");
      return RESPONSE_ALREADY_SENT;
    },
  ],
];

/** Behind onceonly the body has been read to its end, so destroying the request no longer closes the connection. */
const ON_NODE = NODE_ANSWERS.filter(([title]) => title !== "a request that is destroyed");

/** The handler answers with the ServerResponse, and says so to Hono. */
const raw = ([title, promised, handle, sending]: Row<NodeHandle>): Row<Handle> => [
  `raw: ${title}`,
  promised,
  async (c) => {
    const { incoming, outgoing } = c.env as { incoming: IncomingMessage; outgoing: ServerResponse };
    await handle(incoming, outgoing);
    return RESPONSE_ALREADY_SENT;
  },
  sending,
];

const startHono: StartRows<Handle> = async (handles, onRun) => {
  const app = new Hono();
  app.onError((error) => (error instanceof HTTPException ? error.getResponse() : failed(error)));
  for (const [at, handle] of handles.entries()) {
    // With one handler alone, Hono doesn't look at `c.res`.
    app.use(`/${at}`, onRun ? honoIdempotency(withDefaults(ROW_OPTIONS)) : (_c, next) => next());
    app.post(`/${at}`, (c) => {
      if (onRun && executionOf(c).key === "key-1") onRun(at);
      return handle(c);
    });
  }
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  return { server, close: () => server.close() };
};

table(
  "H83: A3: answers of Hono",
  [...HONO_ANSWERS, ...(RESPONSES as readonly Row<Handle>[]), ...ON_NODE.map(raw)],
  startHono,
);
