// Every way in which a body is read on Nest, on Express and on Fastify: bare beside onceonly.
import "reflect-metadata";
import {
  Body,
  Controller,
  type INestApplication,
  type NestInterceptor,
  Post,
  Req,
  UploadedFile,
  UseInterceptors,
} from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ExpressAdapter, FileInterceptor } from "@nestjs/platform-express";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { memoryStorage } from "multer";
import { executionOf, nestIdempotency } from "onceonly/http";
import { type Options, withDefaults } from "./given.ts";
import { type Row as AnyRow, MULTIPART, ROW_OPTIONS, type Sending, type StartRows, table } from "./rows.ts";

interface Reading {
  readonly upload?: "before" | "inside";
  readonly fingerprint?: Options["fingerprint"];
}
type Row = AnyRow<Reading>;
const JSON_BODY: Sending = { headers: { "content-type": "application/json" }, body: '{"item":"café"}' };
const FORM_BODY: Sending = {
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: "item=book",
};
const digest = (request: object) =>
  `${(request as { headers: Record<string, string> }).headers["content-digest"]}`;
const file = (request: object) => `${(request as { file: { buffer: Buffer } }).file.buffer}`;
/** Nest says which option it is in its log only. */
const refused = { refused: /Internal server error/, before: true } as const;

const BODIES: readonly Row[] = [
  ["JSON", "equal", {}, JSON_BODY],
  ["urlencoded", "equal", {}, FORM_BODY],
  ["no body", "equal", {}],
];
const UPLOADS: readonly Row[] = [
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

const starting =
  (adapter: () => ExpressAdapter | FastifyAdapter, rawBody = true): StartRows<Reading> =>
  async (readings, onRun) => {
    class Orders {}
    const prototype = Orders.prototype;
    for (const [at, { upload, fingerprint }] of readings.entries()) {
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
      const files = upload ? [FileInterceptor("file", { storage: memoryStorage() })] : [];
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
    const app: INestApplication = await NestFactory.create(App, adapter(), { rawBody, logger: false });
    await app.listen(0, "127.0.0.1");
    return { server: app.getHttpServer(), close: () => app.close() };
  };

const fingerprinted: Row = ["JSON, with a fingerprint", "equal", { fingerprint: digest }, JSON_BODY];
const onExpress = () => new ExpressAdapter();
const onFastify = () => new FastifyAdapter();
table("H83: A3: bodies of Nest on Express", [...BODIES, ...UPLOADS], starting(onExpress));
table("H83: A3: bodies of Nest on Express, without rawBody", WITHOUT_RAW, starting(onExpress, false));
table("H83: A3: bodies of Nest on Fastify", [...BODIES, fingerprinted], starting(onFastify));
table("H83: A3: bodies of Nest on Fastify, without rawBody", WITHOUT_RAW, starting(onFastify, false));
