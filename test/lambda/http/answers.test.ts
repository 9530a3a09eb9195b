import { Readable } from "node:stream";
import { type HttpRequestEvent, httpIdempotent, PermanentError } from "onceonly";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PROJECT_URL } from "../../../lib/contract.ts";
import { type Answer, bodyOf, given, pausePoint } from "../given.ts";
import { EVENT_FORMS, type RequestParts, v1Event, v2Event } from "./given.ts";

const KEY = { "Idempotency-Key": '"k1"' };

/** All header values of an answer, whichever form it has. */
function headersOf({ headers, multiValueHeaders }: Answer): Record<string, string> {
  const listed = Object.entries(multiValueHeaders ?? {}).map(([name, values]) => [name, values.join()]);
  return { ...headers, ...Object.fromEntries(listed) };
}

function service(
  form: (parts: RequestParts) => HttpRequestEvent,
  handle: (effects: number) => unknown = created,
  more: { readonly whenInProgress?: "reject" } = {},
) {
  const base = given();
  let effects = 0;
  const handler = httpIdempotent(async () => handle(++effects), {
    ...base.options,
    scope: "public",
    ...more,
  });
  const send = async (parts: RequestParts = {}, remainingMs?: number) =>
    (await handler(form({ headers: KEY, ...parts }), base.context(remainingMs))) as Answer;
  return { ...base, handler, send, effects: () => effects };
}

const created = (effects: number) => ({
  statusCode: 201,
  headers: { Location: `/orders/${effects}` },
  body: JSON.stringify({ order: effects }),
});

const UNREAD = "it is a fetch Response or an unread stream";

describe("httpIdempotent, for a result that isn't a response", () => {
  beforeEach(() => {
    vi.spyOn(console, "error").mockImplementation(() => {});
  });
  const log = () => vi.mocked(console.error).mock.calls.flat().join();

  it.each([
    ["a fetch Response", () => Response.json({ id: 1 }), UNREAD],
    ["a web stream", () => new Blob(["a"]).stream(), UNREAD],
    ["a stream of Node", () => Readable.from(["a"]), UNREAD],
    ["a Map", () => new Map([["id", 1]]), "$ is a Map: convert it first"],
    ["a Set in a field", () => ({ ids: new Set([1]) }), "$.ids is a Set: convert it first"],
    ["an Error in a list", () => ({ all: [new Error("no")] }), "$.all.0 is a Error: convert it first"],
    ["a generator", () => (function* () {})(), "$ is a"],
    ["a function", () => () => 1, "$ is a function"],
  ])(
    "rejects %s, which the gateway would answer with `{}`, says why, and does not run again",
    async (_, handle, why) => {
      const { send, effects } = service(v2Event, handle);

      const answers = [await send(), await send()];

      expect(answers.map(({ statusCode }) => statusCode)).toEqual([500, 500]);
      expect(answers.map((answer) => bodyOf(answer).code)).toEqual(Array(2).fill("RESPONSE_NOT_STORABLE"));
      expect(log()).toContain(`can't store the response: ${why}`);
      expect(effects()).toBe(1);
    },
  );

  it("names a fetch Response if a response needs a statusCode", async () => {
    await service(v1Event, () => Response.json({ id: 1 })).send();

    expect(log()).toContain(`can't store the response: ${UNREAD}`);
  });

  it.each([
    [{ at: new Date(0), none: {}, list: [] }, '{"at":"1970-01-01T00:00:00.000Z","none":{},"list":[]}'],
    [
      new (class Order {
        id = 1;
      })(),
      '{"id":1}',
    ],
    [undefined, "null"],
  ])("answers %o as the gateway would", async (value, body) => {
    expect((await service(v2Event, () => value).send()).body).toBe(body);
  });
});

describe.each(EVENT_FORMS)("httpIdempotent with %s", (_name, form) => {
  it("answers every retry as it answered first, and says that it is a replay", async () => {
    const { send, effects } = service(form);

    const first = await send();
    const replay = await send({ headers: { "idempotency-key": "k1" } });

    expect(first).toEqual(created(1));
    expect(replay).toMatchObject({ statusCode: 201, headers: first.headers, body: first.body });
    expect(headersOf(replay)["Idempotent-Replayed"]).toBe("true");
    expect(effects()).toBe(1);
  });

  it.each([
    ["no key", { headers: {} }, 400, "IDEMPOTENCY_KEY_MISSING"],
    ["an empty key", { headers: { "Idempotency-Key": '""' } }, 400, "IDEMPOTENCY_KEY_INVALID"],
    ["a malformed key", { headers: { "Idempotency-Key": '"k1' } }, 400, "IDEMPOTENCY_KEY_INVALID"],
    [
      "a key that is too long",
      { headers: { "Idempotency-Key": "k".repeat(256) } },
      400,
      "IDEMPOTENCY_KEY_INVALID",
    ],
  ])("answers %s with a problem and asks no store", async (_title, parts, status, code) => {
    const { send, store } = service(form);

    const answer = await send(parts);

    expect(answer.statusCode).toBe(status);
    expect(headersOf(answer)["Content-Type"]).toBe("application/problem+json");
    expect(bodyOf(answer)).toEqual({
      type: `${PROJECT_URL}/blob/main/docs/reference/errors.md#${code.toLowerCase()}`,
      title: code.toLowerCase().replaceAll("_", " "),
      status,
      detail: expect.any(String),
      code,
    });
    expect(store.records.size).toBe(0);
  });

  it("answers another payload under the same key with 422, also while the first is in progress", async () => {
    const first = pausePoint();
    const { send, effects } = service(form, async () => {
      await first.pause();
      return created(1);
    });

    const running = send();
    await first.reached;
    const during = await send({ body: "{}" });
    first.resume();
    await running;
    const after = await send({ body: "{}" });

    expect([during.statusCode, after.statusCode]).toEqual([422, 422]);
    expect(bodyOf(during).code).toBe("FINGERPRINT_MISMATCH");
    expect(headersOf(during)).not.toHaveProperty("Retry-After");
    expect(effects()).toBe(1);
  });

  it("answers a concurrent duplicate with 409 and the seconds after which to come again", async () => {
    const first = pausePoint();
    const { clock, send } = service(
      form,
      async () => {
        await first.pause();
        return created(1);
      },
      { whenInProgress: "reject" },
    );

    const running = send();
    await first.reached;
    const early = await send();
    await clock.advance(15_000);
    const middle = await send();
    await clock.advance(19_500);
    const late = await send();
    first.resume();
    await running;

    expect([early.statusCode, middle.statusCode, late.statusCode]).toEqual([409, 409, 409]);
    expect(headersOf(early)["Retry-After"]).toBe("1");
    expect(headersOf(middle)["Retry-After"]).toBe("8");
    expect(headersOf(late)["Retry-After"]).toBe("1");
  });

  it("lets requests without side effects pass, and records nothing", async () => {
    const { send, effects, store } = service(form);

    await send({ method: "GET", headers: {} });
    await send({ method: "GET" });

    expect(effects()).toBe(2);
    expect(store.records.size).toBe(0);
  });
});

describe("httpIdempotent", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  // The single-value form of ALB holds one line of a header: there the second key is the only one.
  it.each(EVENT_FORMS.filter(([name]) => name !== "ALB"))(
    "rejects two different keys with %s",
    async (_, form) => {
      const { send } = service(form);

      const answer = await send({ headers: { "Idempotency-Key": ["a", "b"] } });

      expect(bodyOf(answer)).toMatchObject({ status: 400, code: "IDEMPOTENCY_KEY_INVALID" });
    },
  );

  it("gives the first caller its cookies and connection headers, and stores or replays none of them", async () => {
    const answer = {
      statusCode: 200,
      headers: { "Set-Cookie": "a=1", Date: "now", Connection: "close", "X-Kept": "yes" },
      multiValueHeaders: { "set-cookie": ["b=2"], "X-Many": ["1", "2"] },
      cookies: ["c=3"],
      body: "ok",
    };
    const { send, store } = service(v2Event, () => answer);

    expect(await send()).toEqual(answer);
    expect(await send()).toEqual({
      statusCode: 200,
      headers: { "X-Kept": "yes", "Idempotent-Replayed": "true" },
      multiValueHeaders: { "X-Many": ["1", "2"] },
      body: "ok",
    });
    expect(JSON.stringify([...store.records.values()])).not.toMatch(/a=1|b=2|c=3/);
  });

  it.each([
    ["an object", { id: 1 }, '{"id":1}'],
    ["text", "hello", "hello"],
    ["nothing", undefined, "null"],
  ])("stores %s without a status as the body that payload v2 derives from it", async (_, result, body) => {
    const { send } = service(v2Event, () => result);
    const response = { statusCode: 200, headers: { "content-type": "application/json" }, body };

    expect(await send()).toEqual(response);
    expect(await send()).toMatchObject({ ...response, headers: { "Idempotent-Replayed": "true" } });
  });

  it.each([
    ["a body that is not text", v2Event, { statusCode: 200, body: { id: 1 } }, /serializer after onceonly/],
    ["a status that is no number", v2Event, { statusCode: "created", body: "x" }, /no statusCode/],
    ["no status on payload v1", v1Event, { body: "x" }, /no statusCode/],
    [
      "headers of a class",
      v2Event,
      { statusCode: 200, headers: new Headers({ a: "b" }) },
      /\$\.headers is a Headers/,
    ],
    ["what JSON cannot hold", v2Event, { total: 1n }, /isn't JSON/],
  ])(
    "answers %s with 500, gives the reason only in the log, and does not run again",
    async (_, form, result, why) => {
      const { send, effects } = service(form, () => result);
      const log = vi.spyOn(console, "error").mockImplementation(() => {});

      const answers = [await send(), await send()];

      for (const answer of answers) {
        expect(answer.statusCode).toBe(500);
        expect(bodyOf(answer)).toMatchObject({
          code: "RESPONSE_NOT_STORABLE",
          detail: "the operation is done, but its response can't be repeated: don't send it again",
        });
      }
      expect(log.mock.calls.map(([line]) => line)).toEqual([
        expect.stringMatching(why),
        expect.stringMatching(why),
      ]);
      expect(effects()).toBe(1);
    },
  );

  it.each([
    [200, 1],
    [302, 1],
    [400, 2],
    [404, 2],
    [500, 2],
    [503, 2],
  ])("runs a handler that answers %i %i times in two calls", async (statusCode, times) => {
    const { send, effects } = service(v2Event, () => ({ statusCode, body: "" }));

    expect(await send()).toEqual({ statusCode, body: "" });
    expect((await send()).statusCode).toBe(statusCode);
    expect(effects()).toBe(times);
  });

  it("stores what `shouldStore` selects instead", async () => {
    const { options, context } = given();
    let effects = 0;
    const handler = httpIdempotent(async () => ({ statusCode: 404, body: `${++effects}` }), {
      ...options,
      scope: "public",
      shouldStore: () => true,
    });

    await handler(v2Event({ headers: KEY }), context());

    expect(await handler(v2Event({ headers: KEY }), context())).toMatchObject({ statusCode: 404, body: "1" });
  });

  it("throws the handler's own errors, also when they are replayed", async () => {
    const { send, effects } = service(v2Event, () => {
      throw Object.assign(new PermanentError("sold out"), { expose: true });
    });

    await expect(send()).rejects.toMatchObject({ code: "PERMANENT", expose: true });
    await expect(send()).rejects.toMatchObject({ code: "PERMANENT", expose: true, message: "sold out" });
    expect(effects()).toBe(1);
  });

  it("answers 410 when the result was too large to keep", async () => {
    const { MemoryStore } = await import("onceonly/testing");
    const { options, context } = given();
    const handler = httpIdempotent(async () => ({ statusCode: 200, body: "x".repeat(5000) }), {
      ...options,
      store: new MemoryStore({ maxResultBytes: 2000 }),
      scope: "public",
    });

    expect(await handler(v2Event({ headers: KEY }), context())).toMatchObject({ statusCode: 200 });
    const replay = await handler(v2Event({ headers: KEY }), context());
    expect(replay).toMatchObject({ statusCode: 410 });
    expect(bodyOf(replay).code).toBe("RESULT_NOT_KEPT");
  });
});
