// Every way in which a body is read on Nest, on Express and on Fastify: bare beside onceonly.
import "reflect-metadata";
import {
  Body,
  Controller,
  type INestApplication,
  type NestInterceptor,
  Post,
  Req,
  type Type,
  UploadedFile,
  UseInterceptors,
} from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import {
  AnyFilesInterceptor,
  ExpressAdapter,
  FileFieldsInterceptor,
  FileInterceptor,
  FilesInterceptor,
  type NestExpressApplication,
} from "@nestjs/platform-express";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import express from "express";
import { memoryStorage } from "multer";
import { executionOf, keepBody, nestIdempotency } from "onceonly/http";
import { type Options, withDefaults } from "./given.ts";
import { type Row as AnyRow, MULTIPART, ROW_OPTIONS, type Sending, type StartRows, table } from "./rows.ts";

interface Reading {
  readonly upload?: "before" | "inside";
  readonly files?: Type<NestInterceptor>;
  readonly fingerprint?: Options["fingerprint"];
}
type Row = AnyRow<Reading>;
const JSON_BODY: Sending = { headers: { "content-type": "application/json" }, body: '{"item":"café"}' };
const FORM_BODY: Sending = {
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: "item=book",
};
const TEXT_BODY: Sending = { headers: { "content-type": "text/plain" }, body: "book" };
const digest = (request: object) =>
  `${(request as { headers: Record<string, string> }).headers["content-digest"]}`;
const file = (request: object) => `${(request as { file: { buffer: Buffer } }).file.buffer}`;
/** Nest names the option in its log only. */
const refused = { refused: /needs the raw bytes of the body/, before: true } as const;
const logger = { error: (...said: unknown[]) => console.error(...said), log() {}, warn() {} };

const BODIES: readonly Row[] = [
  ["JSON", "equal", {}, JSON_BODY],
  ["urlencoded", "equal", {}, FORM_BODY],
  ["no body", "equal", {}],
  [
    "JSON in chunks",
    "equal",
    {},
    { ...JSON_BODY, headers: { ...JSON_BODY.headers, "transfer-encoding": "chunked" } },
  ],
];
const memory = { storage: memoryStorage() };
const fileList = (request: object) =>
  [(request as { files: object }).files]
    .flatMap((files) => Object.values(files).flat())
    .map(({ buffer }) => `${buffer}`);
const UPLOADS: readonly Row[] = [
  [
    "FilesInterceptor before, with a fingerprint",
    "equal",
    { upload: "before", files: FilesInterceptor("file", 2, memory), fingerprint: fileList },
    MULTIPART,
  ],
  [
    "AnyFilesInterceptor before, with a fingerprint",
    "equal",
    { upload: "before", files: AnyFilesInterceptor(memory), fingerprint: fileList },
    MULTIPART,
  ],
  [
    "FileFieldsInterceptor inside, with a fingerprint",
    "equal",
    { upload: "inside", files: FileFieldsInterceptor([{ name: "file" }], memory), fingerprint: digest },
    MULTIPART,
  ],
  [
    "AnyFilesInterceptor before",
    refused,
    { upload: "before", files: AnyFilesInterceptor(memory) },
    MULTIPART,
  ],
  ["a text that no parser has read", refused, {}, TEXT_BODY],
  ["FileInterceptor before, with a fingerprint", "equal", { upload: "before", fingerprint: file }, MULTIPART],
  [
    "FileInterceptor inside, with a fingerprint",
    "equal",
    { upload: "inside", fingerprint: digest },
    MULTIPART,
  ],
  ["FileInterceptor before", refused, { upload: "before" }, MULTIPART],
  ["FileInterceptor inside", refused, { upload: "inside" }, MULTIPART],
];
const WITHOUT_RAW: readonly Row[] = [
  ["JSON without rawBody, with a fingerprint", "equal", { fingerprint: digest }, JSON_BODY],
  ["JSON without rawBody", refused, {}, JSON_BODY],
  ["no body without rawBody", "equal", {}],
];

const withText = (app: NestExpressApplication) => app.useBodyParser("text");
const withOwnParser = (app: INestApplication) => app.use(express.json({ verify: keepBody }));

const starting =
  (
    adapter: () => ExpressAdapter | FastifyAdapter,
    rawBody = true,
    setUp: (app: never) => void = () => {},
  ): StartRows<Reading> =>
  async (readings, onRun) => {
    class Orders {}
    const prototype = Orders.prototype;
    for (const [
      at,
      { upload, fingerprint, files: uploads = FileInterceptor("file", memory) },
    ] of readings.entries()) {
      const name = `order${at}`;
      const method = (request: object, body: unknown, given?: { buffer: Buffer }) => {
        if (onRun && executionOf(request).key === "key-1") onRun(at);
        return { body, file: given?.buffer.toString() };
      };
      Object.defineProperty(prototype, name, { value: method, configurable: true, writable: true });
      Req()(prototype, name, 0);
      Body()(prototype, name, 1);
      if (upload) UploadedFile()(prototype, name, 2);
      const options = withDefaults({ ...ROW_OPTIONS, ...(fingerprint && { fingerprint }) });
      const once = onRun ? [nestIdempotency(options) as unknown as NestInterceptor] : [];
      const files = upload ? [uploads] : [];
      const interceptors = upload === "before" ? [...files, ...once] : [...once, ...files];
      Reflect.decorate(
        [Post(`/${at}`), UseInterceptors(...interceptors)],
        prototype,
        name,
        Object.getOwnPropertyDescriptor(prototype, name),
      );
    }
    Controller()(Orders);
    class App {}
    Reflect.defineMetadata("controllers", [Orders], App);
    const app: INestApplication = await NestFactory.create(App, adapter(), {
      rawBody,
      logger,
      bodyParser: setUp !== withOwnParser,
    });
    setUp(app as never);
    await app.listen(0, "127.0.0.1");
    return { server: app.getHttpServer(), close: () => app.close() };
  };

const TEXTS: readonly Row[] = [["text, by useBodyParser", "equal", {}, TEXT_BODY]];
const OWN_PARSER: readonly Row[] = [["JSON, by a parser of your own", "equal", {}, JSON_BODY]];

const fingerprinted: Row = ["JSON, with a fingerprint", "equal", { fingerprint: digest }, JSON_BODY];
const onExpress = () => new ExpressAdapter();
const onFastify = () => new FastifyAdapter();
table("H83: A3: bodies of Nest on Express", [...BODIES, ...UPLOADS], starting(onExpress));
table("H83: A3: bodies of Nest on Express, with useBodyParser", TEXTS, starting(onExpress, true, withText));
table(
  "H83: A3: bodies of Nest on Express, with its own parser",
  OWN_PARSER,
  starting(onExpress, false, withOwnParser),
);
table("H83: A3: bodies of Nest on Express, without rawBody", WITHOUT_RAW, starting(onExpress, false));
table("H83: A3: bodies of Nest on Fastify", [...BODIES, fingerprinted], starting(onFastify));
table("H83: A3: bodies of Nest on Fastify, without rawBody", WITHOUT_RAW, starting(onFastify, false));
