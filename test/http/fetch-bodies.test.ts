// Every way in which a body is read from a Request, by itself and on Hono: bare beside onceonly.
import type { IncomingMessage, Server } from "node:http";
import { text as readText } from "node:stream/consumers";
import { createAdaptorServer } from "@hono/node-server";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { validator } from "hono/validator";
import { executionOf, fetchIdempotency, honoIdempotency } from "onceonly/http";
import { describe, expect, it } from "vitest";
import { type Options, withDefaults } from "./given.ts";
import { MULTIPART, ROW_OPTIONS, type Row, type Sending, type StartRows, table } from "./rows.ts";

interface Reading {
  readonly before?: (request: Request) => unknown;
  readonly fingerprint?: Options["fingerprint"];
  readonly handle: (request: Request) => unknown;
}
const JSON_BODY: Sending = { headers: { "content-type": "application/json" }, body: '{"item":"café"}' };
const LARGE: Sending = { headers: { "content-type": "text/plain" }, body: "x".repeat(2_000_000) };
const digest = (given: object) => `${(given as Request).headers?.get("content-digest")}`;
const formOf = (form: FormData) => [...form].map(([name, value]) => `${name}=${typeof value}`);
const readFirst = async (request: Request) => {
  const reader = (request.body as ReadableStream<Uint8Array>).getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return value?.length;
};
const unread = { refused: /needs the raw bytes of the body/, before: true } as const;

const REQUESTS: readonly Row<Reading>[] = [
  ["text", "equal", { handle: (request) => request.text() }, JSON_BODY],
  ["json", "equal", { handle: (request) => request.json() }, JSON_BODY],
  [
    "arrayBuffer",
    "equal",
    { handle: async (request) => (await request.arrayBuffer()).byteLength },
    JSON_BODY,
  ],
  ["blob", "equal", { handle: async (request) => (await request.blob()).type }, JSON_BODY],
  ["formData", "equal", { handle: async (request) => formOf(await request.formData()) }, MULTIPART],
  ["the body as a stream", "equal", { handle: (request) => readText(request.body as never) }, JSON_BODY],
  [
    "a clone, and then the request",
    "equal",
    { handle: async (request) => (await request.clone().text()) + (await request.text()) },
    JSON_BODY,
  ],
  ["a new Request of it", "equal", { handle: (request) => new Request(request).text() }, JSON_BODY],
  ["nothing", "equal", { handle: () => "unread" }, JSON_BODY],
  ["no body", "equal", { handle: (request) => request.text() }],
  [
    "an empty body in chunks",
    "equal",
    { handle: (request) => request.text() },
    { headers: { "transfer-encoding": "chunked" } },
  ],
  ["a part of the stream, then canceled", "equal", { handle: readFirst }, JSON_BODY],
  [
    "a large stream, with a fingerprint",
    "equal",
    { handle: async (request) => (await request.text()).length, fingerprint: digest },
    LARGE,
  ],
  [
    "a clone that was read before",
    "equal",
    { before: (request) => request.clone().text(), handle: (request) => request.text() },
    JSON_BODY,
  ],
  [
    "a request that was read before",
    unread,
    { before: (request) => request.text(), handle: () => "never" },
    JSON_BODY,
  ],
  [
    "a request whose body is locked",
    unread,
    { before: (request) => request.body?.getReader(), handle: () => "never" },
    JSON_BODY,
  ],
];

const failed = (error: Error) => Response.json({ failed: error.message }, { status: 500 });
const serving = (fetch: (request: Request) => Response | Promise<Response>) => {
  const server = createAdaptorServer({ fetch }) as Server;
  return { server, close: () => server.close() };
};

const startFetch: StartRows<Reading> = async (readings, onRun) => {
  const middlewares = readings.map(({ fingerprint }) =>
    fetchIdempotency(withDefaults({ ...ROW_OPTIONS, ...(fingerprint && { fingerprint }) })),
  );
  return serving(async (request) => {
    const at = Number(new URL(request.url).pathname.slice(1));
    const { before, handle } = readings[at] as Reading;
    await before?.(request);
    const answer = async () => {
      if (onRun && executionOf(request).key === "key-1") onRun(at);
      return Response.json({ read: await handle(request) });
    };
    return (onRun ? (middlewares[at] as (typeof middlewares)[0])(request, answer) : answer()).catch(failed);
  });
};

table("H83: A3: bodies of the Fetch API", REQUESTS, startFetch);

interface HonoReading {
  readonly before?: readonly MiddlewareHandler[];
  readonly inside?: readonly MiddlewareHandler[];
  readonly fingerprint?: Options["fingerprint"];
  readonly handle: (c: Context) => unknown;
}
const reading = (read: (c: Context) => unknown): MiddlewareHandler[] => [
  async (c, next) => {
    await read(c);
    await next();
  },
];
const CHUNKED: Sending = { ...JSON_BODY, headers: { ...JSON_BODY.headers, "transfer-encoding": "chunked" } };
const FORM_BODY: Sending = {
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: "item=book",
};
const limit = bodyLimit({ maxSize: 1000 });
const validForm = validator("form", (value) => value);
const validated = validator("json", (value) => value);

const ON_HONO: readonly Row<HonoReading>[] = [
  ["c.req.json", "equal", { handle: (c) => c.req.json() }, JSON_BODY],
  [
    "c.req.text, twice",
    "equal",
    { handle: async (c) => (await c.req.text()) + (await c.req.text()) },
    JSON_BODY,
  ],
  ["c.req.arrayBuffer", "equal", { handle: async (c) => (await c.req.arrayBuffer()).byteLength }, JSON_BODY],
  ["c.req.parseBody", "equal", { handle: async (c) => Object.keys(await c.req.parseBody()) }, MULTIPART],
  ["c.req.formData", "equal", { handle: async (c) => formOf(await c.req.formData()) }, MULTIPART],
  ["c.req.raw", "equal", { handle: (c) => c.req.raw.json() }, JSON_BODY],
  [
    "the body of c.req.raw as a stream",
    "equal",
    { handle: (c) => readText(c.req.raw.body as never) },
    JSON_BODY,
  ],
  ["nothing", "equal", { handle: () => "unread" }, JSON_BODY],
  ["no body", "equal", { handle: (c) => c.req.text() }],
  ["c.req.blob", "equal", { handle: async (c) => (await c.req.blob()).size }, JSON_BODY],
  ["a clone of c.req.raw", "equal", { handle: (c) => c.req.raw.clone().text() }, JSON_BODY],
  ["a limit before", "equal", { before: [limit], handle: (c) => c.req.json() }, JSON_BODY],
  ["a limit before, of a body in chunks", "equal", { before: [limit], handle: (c) => c.req.json() }, CHUNKED],
  ["a limit inside", "equal", { inside: [limit], handle: (c) => c.req.json() }, JSON_BODY],
  ["a limit inside, of a body in chunks", "equal", { inside: [limit], handle: (c) => c.req.json() }, CHUNKED],
  [
    "a form validator inside",
    "equal",
    { inside: [validForm], handle: (c) => c.req.valid("form" as never) },
    FORM_BODY,
  ],
  [
    "a form validator before",
    "equal",
    { before: [validForm], handle: (c) => c.req.valid("form" as never) },
    FORM_BODY,
  ],
  [
    "a JSON body that was read as a blob before",
    "equal",
    { before: reading((c) => c.req.blob()), handle: (c) => c.req.json() },
    JSON_BODY,
  ],
  ["a validator before", "equal", { before: [validated], handle: (c) => c.req.json() }, JSON_BODY],
  ["a validator inside", "equal", { inside: [validated], handle: (c) => c.req.json() }, JSON_BODY],
  [
    "c.req.text before",
    "equal",
    { before: reading((c) => c.req.text()), handle: (c) => c.req.json() },
    JSON_BODY,
  ],
  [
    "c.req.parseBody before",
    "equal",
    { before: reading((c) => c.req.parseBody()), handle: async (c) => Object.keys(await c.req.parseBody()) },
    MULTIPART,
  ],
  [
    "a large stream, with a fingerprint",
    "equal",
    { fingerprint: () => "same", handle: async (c) => (await c.req.text()).length },
    LARGE,
  ],
  [
    "the IncomingMessage, with a fingerprint",
    "equal",
    { fingerprint: () => "same", handle: (c) => readText((c.env as { incoming: IncomingMessage }).incoming) },
    JSON_BODY,
  ],
  [
    "c.req.formData before",
    unread,
    { before: reading((c) => c.req.formData()), handle: () => "never" },
    MULTIPART,
  ],
  [
    "c.req.raw before",
    unread,
    { before: reading((c) => c.req.raw.text()), handle: () => "never" },
    JSON_BODY,
  ],
];

const startHono: StartRows<HonoReading> = async (readings, onRun) => {
  const app = new Hono();
  app.onError(failed);
  for (const [at, { before = [], inside = [], fingerprint, handle }] of readings.entries()) {
    const options = withDefaults({ ...ROW_OPTIONS, ...(fingerprint && { fingerprint }) });
    for (const each of [...before, ...(onRun ? [honoIdempotency(options)] : []), ...inside])
      app.use(`/${at}`, each);
    app.post(`/${at}`, async (c) => {
      if (onRun && executionOf(c).key === "key-1") onRun(at);
      return c.json({ read: (await handle(c)) as string });
    });
  }
  return serving(app.fetch);
};

table("H83: A3: bodies on Hono", ON_HONO, startHono);

it("H83: A3: a handler of the Fetch API gets the very request, of whatever subclass", async () => {
  class NextRequest extends Request {
    readonly nextUrl = new URL(this.url);
    readonly cookies = new Map([["session", "s1"]]);
  }
  const headers = { "idempotency-key": "key-1" };
  const request = new NextRequest("http://localhost/orders", { method: "POST", body: "book", headers });
  let given: Request | undefined;

  const answer = await fetchIdempotency(withDefaults({}))(request, async (each) => {
    given = each;
    return new Response(await each.text());
  });

  expect(given).toBe(request);
  expect(await answer.text()).toBe("book");
});

describe("R2: a body whose stream produces", () => {
  const sent = (...chunks: readonly unknown[]) => {
    const body = new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
    const headers = { "idempotency-key": "key-1" };
    return new Request("http://a/orders", { method: "POST", headers, body, duplex: "half" } as RequestInit);
  };
  const given = (options: object = {}) => {
    const runs: unknown[] = [];
    const once = fetchIdempotency({ ...withDefaults({ scope: () => "tenant-1" }), ...options });
    const answer = async (request: Request) => {
      let text = "";
      for await (const chunk of request.body as AsyncIterable<Uint8Array | string>) text += `${chunk}`;
      runs.push(text);
      return new Response(text);
    };
    return { runs, send: (request: Request) => once(request, answer) };
  };

  it("text: it counts as its UTF-8, and the handler gets the text", async () => {
    const { runs, send } = given();

    const bytes = await send(sent("caf", "é"));
    const again = await send(sent(Buffer.from("café")));
    const other = await send(sent("cafe"));

    expect([bytes.status, again.status, other.status]).toEqual([200, 200, 422]);
    expect([await bytes.text(), await again.text()]).toEqual(["café", "café"]);
    expect(runs).toEqual(["café"]);
    expect((await given({ maxRequestBytes: 4 }).send(sent("café"))).status).toBe(413);
  });

  it.each([
    ["a number", 7],
    ["an object", { id: 1 }],
    ["a buffer that isn't bytes", new ArrayBuffer(2_000_000)],
  ])("%s: it is refused with advice, and nothing runs", async (_, chunk) => {
    const { runs, send } = given();

    await expect(send(sent(chunk))).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringMatching(
        /needs the bytes of the body, but its stream produced .*TextEncoderStream/,
      ),
    });
    expect(runs).toEqual([]);
    expect((await given({ fingerprint: () => "same" }).send(sent("x"))).status).toBe(200);
  });
});
