// Every way to answer in a controller of Nest, on Express and on Fastify: bare beside onceonly.
import "reflect-metadata";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import {
  Controller,
  Header,
  HttpCode,
  HttpException,
  type INestApplication,
  type NestInterceptor,
  Post,
  Redirect,
  Req,
  Res,
  StreamableFile,
  UseInterceptors,
} from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ExpressAdapter } from "@nestjs/platform-express";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import type { Response as ExpressResponse } from "express";
import type { FastifyReply } from "fastify";
import { executionOf, nestIdempotency } from "onceonly/http";
import { EMPTY, from, of, throwError } from "rxjs";
import { root } from "../kit/project.ts";
import { NODE_ANSWERS, type NodeHandle } from "./cases/node-answers.ts";
import { withDefaults } from "./given.ts";
import { type Row as AnyRow, ROW_OPTIONS, type StartRows, table } from "./rows.ts";

/** A method of a controller, and what is written above it. */
interface Method {
  readonly run: (request: object, response: never) => unknown;
  readonly decorators?: readonly MethodDecorator[];
  /** What the second parameter is; Nest answers by itself unless the method takes the response. */
  readonly response?: "taken" | "passed through";
}
type Row = AnyRow<Method>;
const plain = (run: () => unknown, ...decorators: MethodDecorator[]): Method => ({ run, decorators });

const VALUES: readonly Row[] = [
  ["an object", "equal", plain(() => ({ id: 1 }))],
  ["a list", "equal", plain(() => [1, 2])],
  ["a text", "equal", plain(() => "made")],
  ["a promise", "equal", plain(async () => ({ id: 1 }))],
  ["an Observable", "equal", plain(() => of({ id: 1 }))],
  ["the last value of an Observable", "equal", plain(() => from([1, 2, 3].map((id) => ({ id }))))],
  ["nothing", "equal", plain(() => undefined)],
  ["null", "equal", plain(() => null)],
  ["a Buffer as a StreamableFile", "equal", plain(() => new StreamableFile(Buffer.from([0, 255, 7])))],
  [
    "a stream as a StreamableFile",
    "equal",
    plain(() => new StreamableFile(Readable.from(["one ", "two"], { objectMode: false }))),
  ],
  [
    "a StreamableFile with a name",
    "equal",
    plain(
      () =>
        new StreamableFile(Buffer.from("a"), {
          type: "text/csv",
          disposition: 'attachment; filename="a.csv"',
        }),
    ),
  ],
  ["HttpCode", "equal", plain(() => ({ id: 1 }), HttpCode(202))],
  ["HttpCode 204", "equal", plain(() => undefined, HttpCode(204))],
  ["Header", "equal", plain(() => "made", Header("x-a", "1"), Header("cache-control", "none"))],
  ["Redirect", "equal", plain(() => undefined, Redirect("/orders/1", 303))],
  [
    "Redirect by a value",
    "equal",
    plain(() => ({ url: "/orders/2", statusCode: 307 }), Redirect("/orders/1")),
  ],
  ["a number", "equal", plain(() => 7)],
  ["a boolean", "equal", plain(() => false)],
  ["an Observable of nothing", "unrecorded", plain(() => EMPTY)],
  ["a Date", "equal", plain(() => new Date(0))],
  [
    "a StreamableFile with a length",
    "equal",
    plain(() => new StreamableFile(Buffer.from("abc"), { length: 3, type: "text/plain" })),
  ],
  [
    "a file as a StreamableFile",
    "equal",
    plain(() => new StreamableFile(createReadStream(join(root, "LICENSE")))),
  ],
  [
    "a header that is a function",
    "equal",
    plain(
      () => "made",
      Header("x-a", () => "1"),
    ),
  ],
  ["HttpCode 422", "unrecorded", plain(() => ({ sold: "out" }), HttpCode(422))],
  ["an Observable that fails", "unrecorded", plain(() => throwError(() => new HttpException("no", 409)))],
  [
    "a StreamableFile of a file that isn't there",
    "unrecorded",
    plain(() => new StreamableFile(createReadStream(join(root, "none")))),
  ],
  ["an HttpException", "unrecorded", plain(() => Promise.reject(new HttpException("short and stout", 418)))],
  ["an HttpException that is thrown", "unrecorded", plain(thrower)],
  ["another error", "unrecorded", plain(() => Promise.reject(new Error("short and stout")))],
  ["a body beyond the limit", { refused: /maxResponseBytes/ }, plain(() => "x".repeat(200_000))],
];
function thrower(): never {
  throw new HttpException({ code: "TEAPOT" }, 418);
}

const taken = (run: (request: object, response: never) => unknown): Method => ({ run, response: "taken" });
const ON_EXPRESS: readonly Row[] = [
  [
    "the response, taken",
    "equal",
    taken((_request, response: ExpressResponse) => response.status(201).json({ id: 1 })),
  ],
  [
    "the response, passed through",
    "equal",
    {
      run: (_request, response: ExpressResponse) => {
        response.status(202).cookie("a", "1").setHeader("x-a", "1");
        return { id: 1 };
      },
      response: "passed through",
    },
  ],
  [
    "the response is sent, and then an error is thrown",
    "equal",
    taken((_request, response: ExpressResponse) => {
      response.status(201).send("made");
      throw new HttpException("too late", 500);
    }),
  ],
  [
    "a file",
    "equal",
    taken((_request, response: ExpressResponse) => response.sendFile(join(root, "LICENSE"))),
  ],
];
const ON_FASTIFY: readonly Row[] = [
  [
    "the reply, taken",
    "equal",
    taken((_request, reply: FastifyReply) => void reply.code(201).send({ id: 1 })),
  ],
  [
    "the reply, passed through",
    "equal",
    {
      run: (_request, reply: FastifyReply) => {
        reply.code(202).header("x-a", "1");
        return { id: 1 };
      },
      response: "passed through",
    },
  ],
  [
    "the reply is sent, and then an error is thrown",
    "equal",
    taken((_request, reply: FastifyReply) => {
      reply.code(201).send("made");
      throw new HttpException("too late", 500);
    }),
  ],
  [
    "a hijack",
    "equal",
    taken((_request, reply: FastifyReply) => void reply.hijack().raw.writeHead(201).end("raw")),
  ],
];

const raw =
  (fromRequest: (request: never) => unknown, fromResponse: (response: never) => unknown) =>
  ([title, promised, handle]: AnyRow<NodeHandle>): Row => [
    `raw: ${title}`,
    promised,
    taken((request, response) => {
      const answered = handle(fromRequest(request as never) as never, fromResponse(response) as never);
      return answered instanceof Promise ? answered : undefined;
    }),
  ];

const starting =
  (adapter: () => ExpressAdapter | FastifyAdapter): StartRows<Method> =>
  async (methods, onRun) => {
    class Orders {}
    for (const [at, { run, decorators = [], response }] of methods.entries()) {
      const name = `order${at}`;
      const method = (request: object, given: never) => {
        if (onRun && executionOf(request).key === "key-1") onRun(at);
        return run(request, given);
      };
      Object.defineProperty(Orders.prototype, name, { value: method, configurable: true, writable: true });
      Req()(Orders.prototype, name, 0);
      if (response) Res({ passthrough: response === "passed through" })(Orders.prototype, name, 1);
      const interceptor = nestIdempotency(withDefaults(ROW_OPTIONS)) as unknown as NestInterceptor;
      const all = [Post(`/${at}`), ...(onRun ? [UseInterceptors(interceptor)] : []), ...decorators];
      Reflect.decorate(all, Orders.prototype, name, Object.getOwnPropertyDescriptor(Orders.prototype, name));
    }
    Controller()(Orders);
    class App {}
    Reflect.defineMetadata("controllers", [Orders], App);
    const app: INestApplication = await NestFactory.create(App, adapter(), { rawBody: true, logger: false });
    await app.listen(0, "127.0.0.1");
    return { server: app.getHttpServer(), close: () => app.close() };
  };

table(
  "H83: A3: answers of Nest on Express",
  [
    ...VALUES,
    ...ON_EXPRESS,
    ...NODE_ANSWERS.map(
      raw(
        (request) => request,
        (response) => response,
      ),
    ),
  ],
  starting(() => new ExpressAdapter()),
);
const rawOf = ({ raw: node }: { raw: unknown }) => node;
table(
  "H83: A3: answers of Nest on Fastify",
  [...VALUES, ...ON_FASTIFY, ...NODE_ANSWERS.map(raw(rawOf, rawOf))],
  starting(() => new FastifyAdapter()),
);
