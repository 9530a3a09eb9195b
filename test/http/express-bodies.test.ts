// Every way in which a body is read on Express 4 and 5: bare beside onceonly.
import { createServer } from "node:http";
import { buffer as readBytes, text as readText } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import express from "express";
// @ts-expect-error: types of Express 5 suit what the rows use.
import express4 from "express4";
import multer from "multer";
import { executionOf, expressIdempotency, keepBody } from "onceonly/http";
import { type Options, withDefaults } from "./given.ts";
import { type Row as AnyRow, MULTIPART, ROW_OPTIONS, type Sending, type StartRows, table } from "./rows.ts";

interface Reading {
  readonly before?: readonly express.RequestHandler[];
  readonly inside?: readonly express.RequestHandler[];
  readonly fingerprint?: Options["fingerprint"];
  readonly handle?: (req: express.Request) => unknown;
}
type Row = AnyRow<Reading>;
const JSON_BODY: Sending = { headers: { "content-type": "application/json" }, body: '{"item":"café"}' };
const TEXT_BODY: Sending = { headers: { "content-type": "text/plain" }, body: "book" };
const FORM_BODY: Sending = {
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: "item=book",
};
const verify = keepBody;
const digest = (request: object) => `${(request as express.Request).get("content-digest")}`;
const upload = multer({ storage: multer.memoryStorage() }).single("file");
const shown = ({ body, file }: express.Request) => ({
  body: Buffer.isBuffer(body) ? body.toString() : body,
  file: file?.buffer.toString(),
});
const CHUNKED: Sending = { ...JSON_BODY, headers: { ...JSON_BODY.headers, "transfer-encoding": "chunked" } };
const readRaw: express.RequestHandler = async (req, _res, next) => {
  const rawBody = await readBytes(req);
  Object.assign(req, { rawBody, body: JSON.parse(`${rawBody}`) });
  next();
};
const unread = { refused: /needs the raw bytes of the body/, before: true } as const;

const BODIES: readonly Row[] = [
  ["json", "equal", { before: [express.json({ verify })] }, JSON_BODY],
  [
    "json that is compressed",
    "equal",
    { before: [express.json({ verify })] },
    { headers: { ...JSON_BODY.headers, "content-encoding": "gzip" }, body: gzipSync('{"a":1}') },
  ],
  ["text", "equal", { before: [express.text({ verify })] }, TEXT_BODY],
  ["urlencoded", "equal", { before: [express.urlencoded({ verify, extended: true })] }, FORM_BODY],
  ["raw", "equal", { before: [express.raw({ type: "*/*" })] }, TEXT_BODY],
  [
    "several parsers",
    "equal",
    {
      before: [
        express.json({ verify }),
        express.urlencoded({ verify, extended: false }),
        express.text({ verify }),
      ],
    },
    TEXT_BODY,
  ],
  [
    "rawBody as bytes",
    "equal",
    { before: [express.json({ verify: (req, _res, bytes) => Object.assign(req, { rawBody: bytes }) })] },
    JSON_BODY,
  ],
  [
    "rawBody as text",
    "equal",
    {
      before: [
        express.json({ verify: (req, _res, bytes) => Object.assign(req, { rawBody: bytes.toString() }) }),
      ],
    },
    JSON_BODY,
  ],
  ["no body, and no parser", "equal", {}],
  ["no body, and a parser", "equal", { before: [express.json({ verify })] }],
  [
    "multer before, with a fingerprint",
    "equal",
    { before: [upload], fingerprint: (req) => [shown(req as never)] },
    MULTIPART,
  ],
  ["multer inside, with a fingerprint", "equal", { inside: [upload], fingerprint: digest }, MULTIPART],
  [
    "a parser inside, with a fingerprint",
    "equal",
    { inside: [express.json()], fingerprint: digest },
    JSON_BODY,
  ],
  [
    "a stream that the handler reads, with a fingerprint",
    "equal",
    { handle: readText, fingerprint: digest },
    TEXT_BODY,
  ],
  ["json in chunks", "equal", { before: [express.json({ verify })] }, CHUNKED],
  [
    "a body that waits for 100 Continue",
    "equal",
    { before: [express.json({ verify })] },
    { ...JSON_BODY, headers: { ...JSON_BODY.headers, expect: "100-continue" } },
  ],
  [
    "an empty body in chunks, and a parser",
    "equal",
    { before: [express.json({ verify })] },
    { headers: CHUNKED.headers },
  ],
  ["a parser of your own, with the bytes in rawBody", "equal", { before: [readRaw] }, JSON_BODY],
  [
    "multer before with any files, with a fingerprint",
    "equal",
    {
      before: [multer().any()],
      fingerprint: ({ files }: { files?: { buffer: Buffer }[] }) => files?.map(({ buffer }) => `${buffer}`),
      handle: ({ files }) => (files as { originalname: string }[]).map(({ originalname }) => originalname),
    },
    MULTIPART,
  ],
  [
    "a body that nothing reads, with a fingerprint",
    "equal",
    { handle: () => "unread", fingerprint: digest },
    TEXT_BODY,
  ],
  ["json whose bytes nothing keeps", unread, { before: [express.json()] }, JSON_BODY],
  ["a text that no parser has read", unread, { before: [express.json({ verify })] }, TEXT_BODY],
  ["a stream that the handler reads", unread, { handle: readText }, TEXT_BODY],
  ["a parser inside", unread, { inside: [express.json({ verify })] }, JSON_BODY],
  ["multer before", unread, { before: [upload] }, MULTIPART],
  ["multer inside", unread, { inside: [upload] }, MULTIPART],
  ["a body that nothing reads", unread, { handle: () => "unread" }, TEXT_BODY],
  ["an empty body in chunks, and no parser", unread, {}, { headers: { "transfer-encoding": "chunked" } }],
];

const starting =
  (framework: typeof express): StartRows<Reading> =>
  async (readings, onRun) => {
    const app = framework();
    for (const [at, { before = [], inside = [], fingerprint, handle = shown }] of readings.entries()) {
      const options = { ...ROW_OPTIONS, ...(fingerprint && { fingerprint }) };
      const middleware = onRun ? [expressIdempotency(withDefaults(options)) as express.RequestHandler] : [];
      app.post(`/${at}`, ...before, ...middleware, ...inside, async (req, res) => {
        if (onRun && executionOf(req).key === "key-1") onRun(at);
        res.json(await handle(req));
      });
    }
    app.use(((error, _req, res, _next) => {
      res.status(500).json({ failed: error.message });
    }) as express.ErrorRequestHandler);
    const server = createServer(app);
    return { server, close: () => server.close() };
  };

table("H83: A3: bodies on Express 4", BODIES, starting(express4 as never));
table("H83: A3: bodies on Express 5", BODIES, starting(express));
