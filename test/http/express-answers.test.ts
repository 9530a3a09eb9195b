// Every way to answer on Express 4 and 5: bare beside onceonly.
import { createServer } from "node:http";
import { join } from "node:path";
import express from "express";
// @ts-expect-error: types of Express 5 suit what the rows use.
import express4 from "express4";
import { executionOf, expressIdempotency } from "onceonly/http";
import { root } from "../kit/project.ts";
import { NODE_ANSWERS } from "./cases/node-answers.ts";
import { withDefaults } from "./given.ts";
import { type Row as AnyRow, ROW_OPTIONS, type StartRows, table } from "./rows.ts";

type Handle = (req: express.Request, res: express.Response, next: express.NextFunction) => unknown;
type Row = AnyRow<Handle>;
const LICENSE = join(root, "LICENSE");
const teapot = () =>
  Object.assign(new Error("short and stout"), { status: 418, headers: { "x-pot": "tea" } });

const EXPRESS_ANSWERS: readonly Row[] = [
  ["send of a text", "equal", (_req, res) => res.status(201).send("made")],
  ["send of an object", "equal", (_req, res) => res.send({ id: 1 })],
  ["send of a Buffer", "equal", (_req, res) => res.send(Buffer.from([0, 255, 7]))],
  ["send of null", "equal", (_req, res) => res.send(null)],
  ["send of true", "equal", (_req, res) => res.send(true)],
  ["json", "equal", (_req, res) => res.status(201).json({ id: 1, café: "✓" })],
  ["jsonp", "equal", (_req, res) => res.jsonp({ id: 1 })],
  ["sendStatus", "equal", (_req, res) => res.sendStatus(202)],
  [
    "a status message",
    "equal",
    (_req, res) => Object.assign(res, { statusMessage: "Order Made" }).status(201).send("x"),
  ],
  ["redirect", "equal", (_req, res) => res.redirect("/orders/1")],
  ["redirect with 303", "equal", (_req, res) => res.redirect(303, "/orders/1")],
  [
    "location and links",
    "equal",
    (_req, res) => res.location("/orders/1").links({ next: "/orders/2" }).end(),
  ],
  ["cookie and clearCookie", "equal", (_req, res) => res.cookie("a", "1").clearCookie("b").send("x")],
  [
    "append and vary",
    "equal",
    (_req, res) => res.append("x-a", "1").append("x-a", "2").vary("Accept").send("x"),
  ],
  [
    "format",
    "equal",
    (_req, res) => res.format({ json: () => res.send({ a: 1 }), text: () => res.send("a") }),
  ],
  ["attachment", "equal", (_req, res) => res.attachment("order.txt").send("x")],
  ["render", "equal", (_req, res) => res.render("page", { order: 7 })],
  ["sendFile", "equal", (_req, res) => res.sendFile(LICENSE)],
  ["sendFile of a range", "equal", (_req, res) => res.sendFile(LICENSE), { headers: { range: "bytes=0-9" } }],
  ["download", "equal", (_req, res) => res.download(LICENSE, "licence.txt")],
  ["send, and then an error is thrown", "equal", (_req, res) => sendAndThrow(res)],
  ["send, and then next(error)", "equal", (_req, res, next) => sendAndPass(res, next)],
  ["json twice", "equal", (_req, res) => res.json({ id: 1 }) && void res.json({ id: 2 })],
  [
    "a header that is set after the answer",
    "equal",
    (_req, res) => void res.status(201).send("made").set("x-late", "1"),
  ],
  ["send of a number", "equal", (_req, res) => res.send(201 as never)],
  ["send of a Uint8Array", "equal", (_req, res) => res.send(Uint8Array.from([1, 2]))],
  ["send of nothing", "equal", (_req, res) => res.send()],
  [
    "sendFile that isn't modified",
    "equal",
    (_req, res) => res.sendFile(LICENSE),
    { headers: { "if-none-match": "*" } },
  ],
  ["sendFile with a callback", "equal", (_req, res) => res.sendFile(LICENSE, () => {})],
  [
    "sendFile of several ranges",
    "equal",
    (_req, res) => res.sendFile(LICENSE),
    { headers: { range: "bytes=0-1,4-5" } },
  ],
  [
    "sendFile of a range beyond the file",
    "unrecorded",
    (_req, res) => res.sendFile(LICENSE),
    { headers: { range: "bytes=999999-" } },
  ],
  ["writeHead twice", "broken", (_req, res) => res.writeHead(201).writeHead(202).end()],
  ["a header that is set after writeHead", "broken", (_req, res) => res.writeHead(201).set("x-a", "1").end()],
  ["next for another router", "unrecorded", (_req, _res, next) => next("router")],
  ["render that fails", "unrecorded", (_req, res) => res.render("page", {})],
  ["an error is thrown", "unrecorded", () => fails()],
  ["next(error) with a status and headers", "unrecorded", (_req, _res, next) => next(teapot())],
  ["next, and no other route", "unrecorded", (_req, _res, next) => next()],
  ["next with the next route", "unrecorded", (_req, _res, next) => next("route")],
  ["a status that Node refuses", "unrecorded", (_req, res) => res.writeHead(99).end()],
  [
    "a status message that Node refuses",
    "unrecorded",
    (_req, res) => Object.assign(res, { statusMessage: "a\r\nb" }).end(),
  ],
  ["sendFile of a file that isn't there", "unrecorded", (_req, res) => res.sendFile(join(root, "none.txt"))],
];

function sendAndThrow(res: express.Response): never {
  res.status(201).send("made");
  throw teapot();
}
function sendAndPass(res: express.Response, next: express.NextFunction): void {
  res.status(201).send("made");
  next(teapot());
}
function fails(): never {
  throw teapot();
}
const rejects: Row = ["a promise that rejects", "unrecorded", async () => fails()];

const starting =
  (framework: typeof express): StartRows<Handle> =>
  async (handles, onRun) => {
    const app = framework();
    app.set("env", "production");
    app.set("view engine", "html");
    app.set(
      "view",
      class {
        readonly path = "page";
        render(given: object, done: (error: null, text: string) => void) {
          const { order } = given as { order?: number };
          if (order === undefined) throw teapot();
          done(null, `order ${order}`);
        }
      },
    );
    for (const [at, handle] of handles.entries()) {
      if (onRun) app.use(`/${at}`, expressIdempotency(withDefaults(ROW_OPTIONS)));
      app.post(`/${at}`, (req, res, next) => {
        if (onRun && executionOf(req).key === "key-1") onRun(at);
        return handle(req, res, next) as undefined;
      });
    }
    app.use(((error, _req, res, next) => {
      if (res.headersSent) return next(error);
      res
        .status(error.status ?? 500)
        .set(error.headers ?? {})
        .json({ failed: error.message, code: error.code });
    }) as express.ErrorRequestHandler);
    const server = createServer(app);
    return { server, close: () => server.close() };
  };

table("H83: A3: answers of Express 4", [...EXPRESS_ANSWERS, ...NODE_ANSWERS], starting(express4 as never));
table("H83: A3: answers of Express 5", [...EXPRESS_ANSWERS, rejects, ...NODE_ANSWERS], starting(express));
