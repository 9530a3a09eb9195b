/** Ways to answer with the ServerResponse of node:http, whatever framework hands it to the handler. */
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { type IncomingMessage, ServerResponse } from "node:http";
import { Readable, Writable } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Row } from "../rows.ts";

export type NodeHandle = (req: IncomingMessage, res: ServerResponse) => unknown;
export type NodeRow = Row<NodeHandle>;

const FILE = new URL("../../../LICENSE", import.meta.url);
const bytes = Uint8Array.from([0, 255, 128, 10, 13, 200]);
const text = "ordered: ✓ café";

async function* parts() {
  yield "one ";
  yield Buffer.from("two");
}

export const NODE_ANSWERS: readonly NodeRow[] = [
  ["end without a body", "equal", (_req, res) => res.end()],
  ["end with a text", "equal", (_req, res) => res.end(text)],
  ["end with a text in latin1", "equal", (_req, res) => res.end("café", "latin1")],
  ["end with a Buffer", "equal", (_req, res) => res.end(Buffer.from(bytes))],
  ["end with a Uint8Array", "equal", (_req, res) => res.end(bytes)],
  ["end with a callback", "equal", (_req, res) => res.end(() => {})],
  ["end with a text and a callback", "equal", (_req, res) => res.end(text, () => {})],
  ["end in a later turn", "equal", (_req, res) => setImmediate(() => res.end(text))],
  ["end twice", "equal", (_req, res) => res.end("first") && res.end()],
  ["write and end", "equal", (_req, res) => res.write("one ") && res.end("two")],
  ["write in hex and base64", "equal", (_req, res) => res.write("6869", "hex") && res.end("aGk=", "base64")],
  [
    "write that waits for each callback",
    "equal",
    async (_req, res) => {
      for (const part of ["one", "two"]) await new Promise<void>((done) => res.write(part, () => done()));
      res.end();
    },
  ],
  [
    "write of a buffer that is used again",
    "equal",
    (_req, res) => {
      const buffer = Buffer.from("first");
      res.write(buffer, () => {
        buffer.fill("x");
        res.end("!");
      });
    },
  ],
  ["writeHead with a status", "equal", (_req, res) => res.writeHead(202).end(text)],
  [
    "writeHead with headers",
    "equal",
    (_req, res) => res.writeHead(201, { "x-order": 7, etag: '"1"' }).end(text),
  ],
  ["writeHead with a status message", "equal", (_req, res) => res.writeHead(201, "Order Made").end(text)],
  [
    "writeHead with message and headers",
    "equal",
    (_req, res) => res.writeHead(201, "Made", { "x-a": "1" }).end(),
  ],
  [
    "writeHead with a list of names and values",
    "equal",
    (_req, res) => res.writeHead(201, ["x-a", "1", "set-cookie", "a=1"]).end(text),
  ],
  [
    "a status and its message",
    "equal",
    (_req, res) => Object.assign(res, { statusCode: 299, statusMessage: "Fine" }).end(),
  ],
  [
    "setHeaders",
    "equal",
    (_req, res) =>
      res
        .setHeaders(
          new Map([
            ["x-a", "1"],
            ["x-b", "2"],
          ]),
        )
        .end(text),
  ],
  ["appendHeader", "equal", (_req, res) => res.appendHeader("x-a", "1").appendHeader("x-a", "2").end(text)],
  [
    "removeHeader",
    "equal",
    (_req, res) => {
      res.setHeader("x-a", "1").setHeader("content-length", 3).removeHeader("x-a");
      res.removeHeader("content-length");
      res.end("12345");
    },
  ],
  ["a content-length", "equal", (_req, res) => res.writeHead(200, { "content-length": 5 }).end("12345")],
  [
    "an explicit chunked encoding",
    "equal",
    (_req, res) => res.writeHead(200, { "transfer-encoding": "chunked" }).end(text),
  ],
  ["cookies", "equal", (_req, res) => res.setHeader("set-cookie", ["a=1", "b=2"]).end(text)],
  ["a redirect", "equal", (_req, res) => res.writeHead(303, { location: "/orders/1" }).end()],
  ["204 with a body, which Node drops", "equal", (_req, res) => res.writeHead(204).end("dropped")],
  ["304", "equal", (_req, res) => res.writeHead(304, { etag: '"1"' }).end()],
  [
    "flushHeaders, and a body later",
    "equal",
    (_req, res) => {
      res.setHeader("x-a", "1").flushHeaders();
      setImmediate(() => res.end(text));
    },
  ],
  [
    "cork and uncork",
    "equal",
    (_req, res) => {
      res.cork();
      res.write("one ");
      res.end("two");
      res.uncork();
    },
  ],
  ["pipe of a stream of texts", "equal", (_req, res) => Readable.from(["one ", "two"]).pipe(res)],
  ["pipe of a stream of bytes", "equal", (_req, res) => Readable.from([bytes, Buffer.from("x")]).pipe(res)],
  ["pipe of a file", "equal", (_req, res) => createReadStream(FILE).pipe(res)],
  ["pipeline of a file, awaited", "equal", (_req, res) => pipeline(createReadStream(FILE), res)],
  [
    "pipeTo of a web stream",
    "equal",
    (_req, res) => new Blob([text]).stream().pipeTo(Writable.toWeb(res) as WritableStream<Uint8Array>),
  ],
  [
    "end, and a wait for finish",
    "equal",
    async (_req, res) => {
      res.end(text);
      await once(res, "finish");
    },
  ],
  [
    "a compressed body",
    "decoded",
    (_req, res) => {
      res.setHeader("content-encoding", "gzip");
      Readable.from([Buffer.from(text)])
        .pipe(createGzip())
        .pipe(res);
    },
  ],
  [
    "trailers that are declared",
    "equal",
    (_req, res) => {
      res.setHeader("trailer", "x-sum").write(text);
      res.addTrailers({ "x-sum": "42" });
      res.end();
    },
  ],
  [
    "trailers after a body of a known length, which Node drops",
    "equal",
    (_req, res) => {
      res.addTrailers({ "x-sum": "42" });
      res.end(text);
    },
  ],
  [
    "early hints",
    "equal",
    (_req, res) => {
      res.writeEarlyHints({ link: "</style.css>; rel=preload" });
      res.end(text);
    },
  ],
  [
    "102 Processing",
    "equal",
    (_req, res) => {
      res.writeProcessing();
      res.end(text);
    },
  ],
  [
    "100 Continue",
    "equal",
    (_req, res) => {
      res.writeContinue();
      res.end(text);
    },
  ],
  ["an empty write", "equal", (_req, res) => res.write("") && res.end()],
  ["a status given as a string", "equal", (_req, res) => Object.assign(res, { statusCode: "202" }).end()],
  ["a header beyond ASCII, with a text", "equal", (_req, res) => res.setHeader("x-name", "café").end(text)],
  [
    "a header beyond ASCII, with bytes",
    "equal",
    (_req, res) => res.setHeader("x-name", ["café", "ä"]).end(Buffer.from(text)),
  ],
  [
    "a header beyond ASCII, with a body in chunks",
    "equal",
    (_req, res) => res.setHeader("x-name", "café").write("one ") && res.end("two"),
  ],
  [
    "a header beyond ASCII, with a text of a known length",
    "equal",
    (_req, res) =>
      res.writeHead(201, { "x-name": "café", "content-length": 7 }).write("one ") && res.end("two"),
  ],
  ["a header beyond ASCII, without a body", "equal", (_req, res) => res.setHeader("x-name", "café").end()],
  [
    "a Trailer header without trailers",
    "equal",
    (_req, res) => res.setHeader("trailer", "x-sum").write(text) && res.end(),
  ],
  [
    "a header with several values, and one without",
    "equal",
    (_req, res) => res.setHeader("x-a", ["1", "2"]).setHeader("x-b", "").setHeader("x-c", []).end(text),
  ],
  ["no Date header", "equal", (_req, res) => Object.assign(res, { sendDate: false }).end(text)],
  ["204 with a content-length", "equal", (_req, res) => res.writeHead(204, { "content-length": "0" }).end()],
  [
    "trailers that aren't declared",
    "equal",
    (_req, res) => {
      res.write(text);
      res.addTrailers({ "x-sum": "42" });
      res.end();
    },
  ],
  ["an error status beyond 599", "unrecorded", (_req, res) => res.writeHead(666).end(text)],
  [
    "trailers that repeat",
    "equal",
    (_req, res) => {
      res.setHeader("trailer", "X-Sum").write(text);
      res.addTrailers([
        ["x-sum", "1"],
        ["x-sum", "2"],
      ]);
      res.end();
    },
  ],
  [
    "end, and a wait for finished",
    "equal",
    async (_req, res) => {
      res.end(text);
      await finished(res);
    },
  ],
  ["an async generator", "equal", (_req, res) => pipeline(parts, res)],
  ["an error status", "unrecorded", (_req, res) => res.writeHead(422, "No Stock").end("sold out")],
  ["a request that is destroyed", "broken", (req) => req.destroy()],
  ["a socket that is destroyed", "broken", (_req, res) => res.socket?.destroy()],
  ["a socket that is reset", "broken", (_req, res) => res.socket?.resetAndDestroy()],
  [
    "a stream piped into the socket",
    { refused: /wrote to the connection/ },
    (_req, res) => Readable.from(["HTTP/1.1 201 Created\r\n", "\r\n"]).pipe(res.socket!),
  ],
  [
    "a socket detached from the response",
    { refused: /detached the response from its connection/ },
    (_req, res) => {
      const { socket } = res;
      res.detachSocket(socket!);
      socket!.end("HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nhi");
    },
  ],
  [
    "the end method of Node's prototype",
    { refused: /wrote to the connection/ },
    (_req, res) => ServerResponse.prototype.end.call(res, text, "utf8"),
  ],
  ["the socket ended without an answer", "broken", (_req, res) => res.socket?.end()],
  ["a response that is destroyed", "broken", (_req, res) => res.destroy()],
  [
    "a response that is destroyed after a part",
    "broken",
    (_req, res) => {
      res.write("a part");
      setImmediate(() => res.destroy());
    },
  ],
  [
    "a stream of events",
    { refused: /event stream/ },
    (_req, res) => res.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n"),
  ],
  ["a body beyond the limit", { refused: /maxResponseBytes/ }, (_req, res) => res.end("x".repeat(200_000))],
  [
    "a body without an end",
    { refused: /maxResponseBytes/ },
    (_req, res) => {
      const goOn = () => res.write("again".repeat(1000)) && setImmediate(goOn);
      goOn();
    },
  ],
  [
    "a chunk that is an object",
    { refused: /handler wrote an object/ },
    (_req, res) => res.write({ a: 1 } as never),
  ],
  [
    "a stream of objects",
    { refused: /handler wrote an object/ },
    (_req, res) => Readable.from([{ a: 1 }]).pipe(res),
  ],
  ["status 101", { refused: /status is 101/ }, (_req, res) => res.writeHead(101).end()],
  [
    "a write to the socket",
    { refused: /wrote to the connection instead/ },
    (_req, res) => res.socket?.write("HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nhi"),
  ],
  [
    "a socket that ends with an answer",
    { refused: /wrote to the connection instead/ },
    (req) => req.socket.end("HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nhi"),
  ],
];
