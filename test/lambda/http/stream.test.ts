// Handlers that stream their response, on a stream that behaves as Lambda's does, and on AWS's own runtime client.
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { build } from "esbuild";
import { Hono } from "hono";
import { streamHandle } from "hono/aws-lambda";
import { type HttpRequestEvent, httpIdempotentStream, type ResponseStream } from "onceonly";
import { afterEach, describe, expect, it, vi } from "vitest";
import { hostOf } from "../../../packages/local/test/lambda/given.ts";
import { gate } from "../../kit/time/gate.ts";
import { given, pausePoint } from "../given.ts";
import { EVENT_FORMS, v2Event } from "./given.ts";

interface Prelude {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
}
type FirstWrite = { _onBeforeFirstWrite?: (write: (part: string | Uint8Array) => void) => void };

/** What reaches Lambda. */
class LambdaStream extends Writable implements ResponseStream {
  type = "";
  #parts: Buffer[] = [];
  #hasBegun = false;

  setContentType(type: string): void {
    if (this.#hasBegun) throw new Error("Cannot set content-type, too late.");
    this.type = type;
  }

  override write(chunk: never, ...rest: never[]): boolean {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      (this as FirstWrite)._onBeforeFirstWrite?.((part) => super.write(part));
    }
    return super.write(chunk, ...rest);
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#parts.push(chunk);
    done();
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  sent(): { prelude: Prelude | undefined; body: string } {
    return readSent(this.bytes, this.type);
  }
}

function readSent(bytes: Buffer, type: string) {
  if (!type.includes("http-integration")) return { prelude: undefined, body: bytes.toString() };
  const end = bytes.indexOf(Buffer.alloc(8));
  const prelude = JSON.parse(bytes.subarray(0, end).toString()) as Prelude;
  return { prelude, body: bytes.subarray(end + 8).toString() };
}

const awslambda = {
  streamifyResponse: <Handler>(handler: Handler) => handler,
  HttpResponseStream: {
    from<Stream extends ResponseStream>(stream: Stream, metadata: object): Stream {
      stream.setContentType("application/vnd.awslambda.http-integration-response");
      (stream as FirstWrite)._onBeforeFirstWrite = (write) => {
        write(JSON.stringify(metadata));
        write(new Uint8Array(8));
      };
      return stream;
    },
  },
};
const { from } = awslambda.HttpResponseStream;

type Handle = Parameters<typeof httpIdempotentStream<HttpRequestEvent>>[0];

function service(handle: Handle, more: object = {}) {
  const world = given();
  const handler = httpIdempotentStream(handle, { ...world.options, scope: "public", ...more });
  const begin = (
    event: object = v2Event({ headers: { "idempotency-key": "k1" } }),
    stream = new LambdaStream(),
  ) => {
    const ended = handler(event as HttpRequestEvent, stream, world.context());
    ended.catch(() => {});
    return { stream, ended };
  };
  const send = async (event?: object) => {
    const { stream, ended } = begin(event);
    await ended;
    expect(stream.writableFinished).toBe(true);
    return stream.sent();
  };
  return { ...world, begin, send };
}

const CREATED = { statusCode: 201, headers: { "Content-Type": "text/plain", "X-Request-Id": "r1" } };
const tea: Handle = async (_event, stream) => {
  const response = from(stream, { ...CREATED, cookies: ["a=b"] });
  response.write("te");
  response.write(Buffer.from("a ☕"));
  response.end();
};

afterEach(() => vi.unstubAllGlobals());

describe("httpIdempotentStream", () => {
  it.each(EVENT_FORMS)("R10: replays status, headers and bytes: %s", async (_, eventOf) => {
    const { send, decisions } = service(tea);
    const event = eventOf({ headers: { "Idempotency-Key": "k1" } });

    const [first, again] = [await send(event), await send(event)];

    expect(first).toEqual({ prelude: { ...CREATED, cookies: ["a=b"] }, body: "tea ☕" });
    expect(again.body).toBe("tea ☕");
    expect(again.prelude?.statusCode).toBe(201);
    const headers = JSON.stringify(again.prelude);
    expect(headers).toContain("text/plain");
    expect(headers).toMatch(/"Idempotent-Replayed":(\["true"\]|"true")/);
    expect(headers).not.toMatch(/r1|a=b/);
    expect(decisions()).toEqual(["executed", "replayed"]);
  });

  it("H2, R10: sends each chunk when it's written, and the end once the response is recorded", async () => {
    const [written, recording] = [pausePoint(), gate<void>()];
    const world = given();
    const { store } = world;
    const settle = store.settle.bind(store);
    store.settle = async (...given) => {
      await recording.opened;
      return settle(...given);
    };
    const { begin, states } = service(
      async (_event, stream) => {
        stream.write("early");
        await written.pause();
        stream.end("late");
      },
      { store },
    );

    const { stream, ended } = begin();
    await written.reached;
    expect(stream.bytes.toString()).toBe("early");
    written.resume();
    await vi.waitFor(() => expect(stream.bytes.toString()).toBe("earlylate"));
    expect([stream.writableEnded, states()]).toEqual([false, []]);
    recording.open();
    await ended;

    expect(stream.writableFinished).toBe(true);
    expect([...store.records.values()].map(({ state }) => state)).toEqual(["completed"]);
  });

  it.each<[string, Handle, { bytes: Buffer; statusCode: number; type?: string }]>([
    [
      "bytes that aren't text, without metadata",
      async (_event, stream) => {
        stream.setContentType("image/png");
        await pipeline(Readable.from([Buffer.from([0xff, 0]), Buffer.from([0xfe])]), stream);
      },
      { bytes: Buffer.from([0xff, 0, 0xfe]), statusCode: 200, type: "image/png" },
    ],
    [
      "no body",
      async (_event, stream) => from(stream, { statusCode: 204, headers: {} }).end(),
      { bytes: Buffer.alloc(0), statusCode: 204 },
    ],
  ])("R10: replays %s", async (_, handle, { bytes, statusCode, type }) => {
    const { begin, send } = service(handle);
    await begin().ended;

    const { stream, ended } = begin();
    await ended;

    const { prelude } = stream.sent();
    expect(prelude).toMatchObject({ statusCode, headers: { ...(type && { "content-type": type }) } });
    expect(stream.bytes.subarray(stream.bytes.indexOf(Buffer.alloc(8)) + 8)).toEqual(bytes);
    await send();
  });

  it("R10: sends status and headers of a response whose body is empty", async () => {
    const { send } = service(async (_event, stream) =>
      from(stream, { statusCode: 302, headers: { location: "/" } }).end(),
    );

    expect(await send()).toEqual({ prelude: { statusCode: 302, headers: { location: "/" } }, body: "" });
  });

  it.each<[string, object, object]>([
    ["an event stream", { headers: { "Content-Type": "text/event-stream; charset=utf-8" } }, {}],
    ["an event stream in lists", { multiValueHeaders: { "content-type": ["text/event-stream"] } }, {}],
    ["more than `maxResponseBytes`", { headers: {} }, { maxResponseBytes: 7 }],
  ])("R10: keeps only the fact of %s: its replay is 410", async (_, metadata, options) => {
    let runs = 0;
    const { send } = service(async (_event, stream) => {
      runs++;
      await pipeline(Readable.from(["data", ": a\n"]), from(stream, { statusCode: 200, ...metadata }));
    }, options);

    expect((await send()).body).toBe("data: a\n");
    const again = await send();

    expect(again.prelude).toMatchObject({ statusCode: 410 });
    expect(JSON.parse(again.body)).toMatchObject({ code: "RESULT_NOT_KEPT" });
    expect(runs).toBe(1);
  });

  it("R10: fails the stream of a handler that fails, before or after its first chunk, and a retry runs", async () => {
    let fails: "early" | "late" | undefined = "early";
    const { begin, send } = service(async (_event, stream) => {
      if (fails === "early") throw new Error("early");
      stream.write("a");
      if (fails === "late") throw new Error("late");
      stream.end();
    });

    for (const each of ["early", "late"] as const) {
      fails = each;
      const { stream, ended } = begin();
      await expect(ended).rejects.toThrow(each);
      expect(stream.writableEnded).toBe(false);
    }
    fails = undefined;

    expect((await send()).body).toBe("a");
  });

  it("R10: doesn't keep a response that isn't final", async () => {
    let runs = 0;
    const { send } = service(async (_event, stream) =>
      from(stream, { statusCode: 500, headers: {} }).end(`${++runs}`),
    );

    expect([(await send()).body, (await send()).body]).toEqual(["1", "2"]);
  });

  it("H8, R10: fails the stream of an attempt that has lost its claim, and the caller gets the other's answer", async () => {
    const paused = pausePoint();
    let runs = 0;
    const { begin, send, clock } = service(
      async (_event, stream) => {
        stream.write(`${++runs}`);
        if (runs === 1) await paused.pause();
        stream.end();
      },
      { leaseSeconds: 10, renewLease: false },
    );
    const slow = begin();
    await paused.reached;
    await clock.advance(60_000);
    expect((await send()).body).toBe("2");

    paused.resume();

    await expect(slow.ended).rejects.toMatchObject({ code: "CLAIM_LOST" });
    expect(slow.stream.writableEnded).toBe(false);
    expect((await send()).body).toBe("2");
  });

  it("R10: replays the response that the handler committed before it streamed", async () => {
    const { send } = service(async (_event, stream, { idempotency }) => {
      const response = await idempotency.commit(
        { statusCode: 201, headers: {}, body: "one" },
        { writes: [] },
      );
      from(stream, { statusCode: 201, headers: {} }).end(response.body);
    });

    expect([(await send()).body, (await send()).body]).toEqual(["one", "one"]);
  });

  it("R10: lets a handler write only as fast as its caller reads", async () => {
    class SlowStream extends LambdaStream {
      readonly taken: (() => void)[] = [];
      override _write(chunk: Buffer, encoding: string, done: () => void): void {
        super._write(chunk, encoding, () => this.taken.push(done));
      }
    }
    const stream = new SlowStream({ highWaterMark: 1 });
    const { begin } = service(async (_event, to) => {
      await pipeline(Readable.from(Array.from({ length: 50 }, () => Buffer.alloc(10))), to);
    });

    const { ended } = begin(undefined, stream);
    await vi.waitFor(() => expect(stream.taken).toHaveLength(1));
    const early = stream.bytes.length + stream.writableLength;
    const drain = setInterval(() => stream.taken.shift()?.(), 0);
    await ended;
    clearInterval(drain);

    expect(early).toBeLessThan(50);
    expect(stream.bytes).toHaveLength(500);
  });

  it("R10: runs to its end although the caller is gone, so that a retry gets the response", async () => {
    const paused = pausePoint();
    const { begin, send } = service(async (_event, stream) => {
      stream.write("a");
      await paused.pause();
      stream.end("b");
    });
    const { stream, ended } = begin();
    await paused.reached;

    stream.destroy();
    paused.resume();
    await ended;

    expect((await send()).body).toBe("ab");
  });

  it("R10: answers a request without a key with a problem, and leaves other methods alone", async () => {
    const { begin, send, store } = service(tea);

    expect((await send(v2Event())).prelude).toMatchObject({ statusCode: 400 });
    const { stream, ended } = begin(v2Event({ method: "GET" }));
    await ended;
    expect(stream.sent().body).toBe("tea ☕");
    expect(store.records.size).toBe(0);
  });

  it("R10: runs Hono's `streamHandle` once per key", async () => {
    vi.stubGlobal("awslambda", awslambda);
    let runs = 0;
    const app = new Hono();
    app.post("/orders", async (c) => c.text(`${await c.req.text()} ${++runs}`, 201, { "x-order": "o1" }));
    const { send } = service(streamHandle(app) as unknown as Handle);

    const [first, again] = [await send(), await send()];

    expect(first).toMatchObject({ prelude: { statusCode: 201 }, body: '{"item":"book"} 1' });
    expect(again).toMatchObject({
      prelude: { statusCode: 201, headers: { "x-order": "o1" } },
      body: first.body,
    });
  });

  it("R10: refuses what can't work, with what to do", async () => {
    const { options, context } = given();
    const complete = { ...options, scope: "public" as const };
    const made = (more: object) => () => httpIdempotentStream(tea, { ...complete, ...more });

    expect(() => httpIdempotentStream(complete as never, tea as never)).toThrow(
      "`handler` must be a function",
    );
    expect(made({ responseHeaders: { a: "b" } })).toThrow(
      "`responseHeaders` can't be added to a stream: set headers with `awslambda.HttpResponseStream.from`",
    );
    expect(made({ maxResponseBytes: -1 })).toThrow("`maxResponseBytes` must be a whole number of bytes");
    const unstreamed = made({})() as unknown as (event: object, context: object) => Promise<void>;
    await expect(unstreamed(v2Event(), context())).rejects.toThrow(
      "`handler` must be called with a response stream: export `awslambda.streamifyResponse(httpIdempotentStream(handler, options))`",
    );
  });

  it("R10: replays on AWS's own runtime client", async () => {
    const source = `
      import { httpIdempotentStream } from "onceonly";
      import { MemoryStore } from "onceonly/testing";
      let runs = 0;
      const work = async (event, stream) => {
        stream = awslambda.HttpResponseStream.from(stream, { statusCode: 201, headers: { "x-order": "o1" } });
        stream.write("order ");
        stream.write(String(++runs));
        stream.end();
      };
      const options = { operation: "order", store: new MemoryStore(), scope: "public", leaseSeconds: 30 };
      export const handler = awslambda.streamifyResponse(httpIdempotentStream(work, options));`;
    const { outputFiles } = await build({
      ...{ stdin: { contents: source, resolveDir: process.cwd() }, bundle: true, write: false },
      ...{ format: "esm", platform: "node", external: ["@aws-sdk/*"], logLevel: "silent" },
      alias: { onceonly: "./lib/index.ts", "onceonly/testing": "./lib/testing/index.ts" },
      banner: {
        js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      },
    });
    const host = await hostOf(outputFiles[0]!.text);
    const event = v2Event({ headers: { "idempotency-key": "k1" } });

    const results = [await host.invoke(JSON.stringify(event)), await host.invoke(JSON.stringify(event))];

    const sent = results.map(({ payload }) => readSent(Buffer.from(payload), "http-integration"));
    expect(sent.map(({ body }) => body)).toEqual(["order 1", "order 1"]);
    expect(sent[0]?.prelude).toEqual({ statusCode: 201, headers: { "x-order": "o1" } });
    expect(sent[1]?.prelude).toMatchObject({ statusCode: 201, headers: { "Idempotent-Replayed": "true" } });
  });
});
