// Every way in which a body is read on Fastify: bare beside onceonly.
import type { Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import fastifyCompress from "@fastify/compress";
import multipart, { type MultipartFile } from "@fastify/multipart";
import fastify, { type FastifyInstance, type FastifyRequest, type FastifySchema } from "fastify";
import { executionOf, fastifyIdempotency } from "onceonly/http";
import { type Options, withDefaults } from "./given.ts";
import { type Row as AnyRow, MULTIPART, ROW_OPTIONS, type Sending, type StartRows, table } from "./rows.ts";

interface Reading {
  readonly parser?: (app: FastifyInstance) => unknown;
  readonly fingerprint?: Options["fingerprint"];
  readonly handle?: (request: FastifyRequest) => unknown;
  readonly schema?: FastifySchema;
}
type Row = AnyRow<Reading>;
const JSON_BODY: Sending = { headers: { "content-type": "application/json" }, body: '{"item":"café"}' };
const TEXT_BODY: Sending = { headers: { "content-type": "text/plain" }, body: "book" };
const FORM_BODY: Sending = {
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: "item=book",
};
const OWN_BODY: Sending = { headers: { "content-type": "application/x-order" }, body: "book" };
const digest = (request: object) => `${(request as FastifyRequest).headers["content-digest"]}`;
const fields = (request: object) => (request as FastifyRequest).body;
const shown = ({ body }: FastifyRequest) => ({ body: Buffer.isBuffer(body) ? body.toString() : body });
const readFile = async (request: FastifyRequest) => {
  const file = (await request.file()) as MultipartFile;
  return { fields: Object.keys(file.fields), file: `${await file.toBuffer()}` };
};
const readParts = async (request: FastifyRequest) => {
  const names: string[] = [];
  for await (const part of request.parts()) {
    names.push(part.fieldname);
    if (part.type === "file") await part.toBuffer();
  }
  return names;
};
const unread = { refused: /needs the raw bytes of the body/, before: true } as const;
type Done = (error: null, body?: unknown) => void;
const own = (parse: (request: unknown, payload: Readable, done: Done) => unknown) => (app: FastifyInstance) =>
  app.addContentTypeParser("application/x-order", parse as never);
const handsOn = own((_request, payload, done) => done(null, payload));
const readsNothing = own((_request, _payload, done) => done(null));

const BODIES: readonly Row[] = [
  ["JSON", "equal", {}, JSON_BODY],
  ["text", "equal", {}, TEXT_BODY],
  [
    "JSON that is compressed",
    "equal",
    { parser: (app) => app.register(fastifyCompress) },
    { headers: { ...JSON_BODY.headers, "content-encoding": "gzip" }, body: gzipSync('{"a":1}') },
  ],
  ["no body", "equal", {}],
  [
    "a parser of a string",
    "equal",
    {
      parser: (app) =>
        app.addContentTypeParser("*", { parseAs: "string" }, (_r, body, done) => done(null, body)),
    },
    OWN_BODY,
  ],
  [
    "a parser of a buffer",
    "equal",
    {
      parser: (app) =>
        app.addContentTypeParser("*", { parseAs: "buffer" }, (_r, body, done) => done(null, body)),
    },
    OWN_BODY,
  ],
  [
    "a parser of the stream",
    "equal",
    { parser: own(async (_request, payload) => readText(payload)) },
    OWN_BODY,
  ],
  [
    "a stream that the handler reads, with a fingerprint",
    "equal",
    {
      parser: handsOn,
      handle: async ({ body }) => ({ read: await readText(body as never) }),
      fingerprint: digest,
    },
    OWN_BODY,
  ],
  [
    "a raw request that the handler reads, with a fingerprint",
    "equal",
    { parser: readsNothing, handle: async ({ raw }) => ({ read: await readText(raw) }), fingerprint: digest },
    OWN_BODY,
  ],
  [
    "@fastify/multipart in the handler, with a fingerprint",
    "equal",
    { parser: (app) => app.register(multipart), handle: readFile, fingerprint: digest },
    MULTIPART,
  ],
  [
    "@fastify/multipart as the body, with a fingerprint",
    "equal",
    {
      parser: (app) => app.register(multipart, { attachFieldsToBody: "keyValues" }),
      handle: ({ body }) => ({ item: (body as { item: string }).item }),
      fingerprint: (request) => (fields(request) as { item: string }).item,
    },
    MULTIPART,
  ],
  [
    "JSON in chunks",
    "equal",
    {},
    { ...JSON_BODY, headers: { ...JSON_BODY.headers, "transfer-encoding": "chunked" } },
  ],
  [
    "a form",
    "equal",
    {
      parser: (app) =>
        app.addContentTypeParser(
          "application/x-www-form-urlencoded",
          { parseAs: "string" },
          (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(`${body}`))),
        ),
    },
    FORM_BODY,
  ],
  [
    "a parser that leaves the bytes in rawBody, and reads elsewhere",
    "equal",
    {
      parser: (app) => {
        app.decorateRequest("rawBody");
        app.addContentTypeParser(
          "application/x-order",
          async (request: FastifyRequest, payload: Readable) => {
            const text = await readText(payload);
            Object.assign(request, { rawBody: text });
            return { text };
          },
        );
      },
    },
    OWN_BODY,
  ],
  [
    "a validated body that the schema changes",
    "equal",
    {
      schema: {
        body: {
          type: "object",
          additionalProperties: false,
          properties: { item: { type: "string" }, count: { type: "integer", default: 1 } },
        },
      },
    },
    { ...JSON_BODY, body: '{"item":"book","more":1}' },
  ],
  [
    "the parts of @fastify/multipart, with a fingerprint",
    "equal",
    { parser: (app) => app.register(multipart), handle: readParts, fingerprint: digest },
    MULTIPART,
  ],
  [
    "saved files of @fastify/multipart, with a fingerprint",
    "equal",
    {
      parser: (app) => app.register(multipart),
      handle: async (request) => (await request.saveRequestFiles()).map(({ filename }) => filename),
      fingerprint: digest,
    },
    MULTIPART,
  ],
  [
    "the parts of @fastify/multipart",
    unread,
    { parser: (app) => app.register(multipart), handle: readParts },
    MULTIPART,
  ],
  ["a stream that the handler reads", unread, { parser: handsOn }, OWN_BODY],
  ["a raw request that the handler reads", unread, { parser: readsNothing }, OWN_BODY],
  [
    "@fastify/multipart in the handler",
    unread,
    { parser: (app) => app.register(multipart), handle: readFile },
    MULTIPART,
  ],
  [
    "@fastify/multipart as the body",
    unread,
    { parser: (app) => app.register(multipart, { attachFieldsToBody: true }) },
    MULTIPART,
  ],
];

const start: StartRows<Reading> = async (readings, onRun) => {
  const app = fastify();
  for (const [at, { parser, fingerprint, schema, handle = shown }] of readings.entries())
    await app.register(async (scope) => {
      await parser?.(scope);
      const options = { ...ROW_OPTIONS, ...(fingerprint && { fingerprint }) };
      scope.post(
        `/${at}`,
        { ...(schema && { schema }), ...(onRun && fastifyIdempotency(withDefaults(options))) },
        async (request) => {
          if (onRun && executionOf(request).key === "key-1") onRun(at);
          return handle(request);
        },
      );
    });
  await app.listen({ port: 0, host: "127.0.0.1" });
  return { server: app.server, close: () => app.close() };
};

table("H83: A3: bodies on Fastify", BODIES, start);
