// What a request is answered while another one with its key is under way: a double click, a retry beside its first try.
import { type HttpRequestEvent, httpIdempotency, httpIdempotent, StoreUnavailableError } from "onceonly";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { DEFAULTS } from "../../../lib/client/options.ts";
import type { ClientRuntime } from "../../../lib/client/runtime.ts";
import { sendUntilAnswered } from "../../../lib/client/send.ts";
import type { Store } from "../../../lib/core/store.ts";
import { intercepted } from "../../kit/faults/faulty-store.ts";
import { describeOnMiddies } from "../../kit/middies.ts";
import { type Answer, bodyOf, given } from "../given.ts";
import { type RequestParts, v2Event } from "./given.ts";

const KEY = { "Idempotency-Key": '"k1"' };
const NEVER = Number.POSITIVE_INFINITY;
const refusal = () => new StoreUnavailableError("refused", new Error("AccessDeniedException"));

type Handle = (attempt: number, event: HttpRequestEvent) => unknown;
type Options = Partial<Parameters<typeof httpIdempotent>[1]>;

/** A service whose work lasts `workMs`, the answers that have come, and when they came (ms since the start). */
function service(
  workMs: number,
  more: Options | ((base: ReturnType<typeof given>) => Options) = {},
  handle: Handle = () => undefined,
) {
  const base = given();
  const { clock, options, context } = base;
  const startedAt = clock.now();
  let effects = 0;
  const handler = httpIdempotent(
    async (event: HttpRequestEvent, { idempotency }) => {
      const attempt = idempotency.attempt as number;
      effects++;
      await clock.sleep(workMs);
      return handle(attempt, event) ?? { statusCode: 201, body: `order ${attempt}` };
    },
    { ...options, scope: "public", ...((typeof more === "function" ? more(base) : more) as object) },
  );
  const answers: [status: number, atMs: number, retryAfter: string | undefined][] = [];
  const send = async (parts: RequestParts = {}, remainingMs?: number) => {
    const event = v2Event({ headers: KEY, startedAt: clock.now(), ...parts });
    const answer = (await handler(event, context(remainingMs))) as unknown as Answer;
    answers.push([answer.statusCode, clock.now() - startedAt, answer.headers?.["Retry-After"]]);
    return answer;
  };
  /** Not awaited: the first try goes on. */
  const start = async (parts?: RequestParts, remainingMs?: number) => {
    send(parts, remainingMs).catch(() => {});
    await clock.advance(0);
  };
  return { ...base, send, start, answers, effects: () => effects };
}

const log = vi.spyOn(console, "error").mockImplementation(() => {});

beforeEach(() => {
  log.mockClear();
});

describe("a request during one with its key", () => {
  it("H48: waits for the first answer, by default", async () => {
    const { clock, start, send, answers, effects } = service(2000);
    await start();

    const answer = await clock.run(send());

    expect(answer).toMatchObject({
      statusCode: 201,
      body: "order 1",
      headers: { "Idempotent-Replayed": "true" },
    });
    expect(answers.at(-1)![1]).toBeGreaterThanOrEqual(2000);
    expect(answers.at(-1)![1]).toBeLessThan(3000);
    expect(effects()).toBe(1);
  });

  it("is asked to retry after 3 seconds, and soon: not when the lease ends", async () => {
    const { clock, start, send, answers } = service(20_000);
    await start();

    await clock.run(send());

    expect(answers).toEqual([[409, 3000, "2"]]);
  });

  it("waits as by default if the option is undefined", async () => {
    const { clock, start, send } = service(2000, { whenInProgress: undefined });
    await start();

    expect((await clock.run(send())).statusCode).toBe(201);
  });

  it('is refused immediately, and reads nothing, with "reject"', async () => {
    const base = service(20_000, { whenInProgress: "reject" });
    const find = vi.spyOn(base.store, "find");
    await base.start();

    await base.send();

    expect(base.answers).toEqual([[409, 0, "1"]]);
    expect(find).not.toHaveBeenCalled();
  });

  it.each([
    ["the gateway's limit", { startedAt: 1_700_000_000_000 - 27_000 }, 30_000, 1000],
    ["the invocation, less the time to answer", {}, 1000, 900],
    ["what the caller prefers", { headers: { ...KEY, Prefer: "wait=1" } }, 30_000, 1000],
    ["nothing, where the caller prefers so", { headers: { ...KEY, Prefer: "wait=0" } }, 30_000, 0],
  ])("waits no longer than %s", async (_, parts, remainingMs, ms) => {
    const { clock, start, send, answers } = service(60_000);
    await start({}, 600_000);

    await clock.run(send(parts, remainingMs));

    expect(answers).toEqual([[409, ms, "1"]]);
  });

  it("H57: of 50 in one process 20 wait, and 30 are refused immediately", async () => {
    const { clock, start, send, answers, effects } = service(2000);
    await start();

    const all = Promise.all(Array.from({ length: 50 }, () => send()));
    await clock.advance(0);
    expect(answers).toEqual(Array.from({ length: 30 }, () => [409, 0, "1"]));
    await clock.run(all);

    expect(answers.filter(([status]) => status === 201)).toHaveLength(21);
    expect(effects()).toBe(1);
  });

  it("runs as soon as the first try has failed", async () => {
    const { clock, start, send, effects } = service(1000, {}, (attempt) => {
      if (attempt === 1) throw new Error("no stock");
    });
    await start();

    expect(await clock.run(send())).toMatchObject({ statusCode: 201, body: "order 2" });
    expect(effects()).toBe(2);
  });

  it("takes over if the first try has died and its lease ends in between", async () => {
    const { clock, start, send, answers, effects } = service(0, {}, (attempt) =>
      attempt === 1 ? new Promise(() => {}) : undefined,
    );
    await start();
    await clock.advance(33_000);

    expect((await clock.run(send())).body).toBe("order 2");

    expect(answers).toEqual([[201, 35_001, undefined]]);
    expect(effects()).toBe(2);
  });

  it("is rejected with 422 immediately for another payload", async () => {
    const { start, send, answers } = service(20_000);
    await start();

    await send({ body: '{"item":"pen"}' });

    expect(answers).toEqual([[422, 0, undefined]]);
  });

  it("is rejected with 422 if another payload gets the key while it waits", async () => {
    const { clock, start, send, answers } = service(1000, {}, (attempt) => {
      if (attempt === 1) throw new Error("the body is wrong");
      return clock.sleep(5000).then(() => ({ statusCode: 201, body: "mended" }));
    });
    await start();
    const duplicate = send();
    await clock.advance(990);
    const mended = send({ body: '{"item":"pen"}' }).catch(() => {});
    await clock.run(Promise.all([duplicate, mended]));

    // Whichever of the two looked first after the release has the key; the other one is about another payload.
    expect(answers.map(([status]) => status).sort()).toEqual([201, 422]);
  });

  it("H58: answers 409, and reports once, if the right to read is missing", async () => {
    let looks = 0;
    const events: { readonly decision: string }[] = [];
    const { clock, start, send, answers } = service(20_000, ({ store }) => ({
      store: intercepted(store, async (method, request) => {
        if (method !== "find") return request();
        looks++;
        throw refusal();
      }) as Store<never>,
      observe: (event) => events.push(event),
    }));
    await start();

    await clock.run(Promise.all([send(), send(), send()]));
    await clock.run(send());

    expect(answers.map(([status]) => status)).toEqual([409, 409, 409, 409]);
    expect(answers.every(([, atMs]) => atMs < 100)).toBe(true);
    expect(looks).toBeLessThanOrEqual(3);
    expect(events.filter(({ decision }) => decision === "store-failed")).toHaveLength(1);
    expect(log).not.toHaveBeenCalled();
  });

  it("gets 503 if the store fails while it waits: a retry may reach it again", async () => {
    const { clock, start, send, answers } = service(20_000, ({ store }) => ({
      store: intercepted(store, async (method, request) => {
        if (method === "find") throw new StoreUnavailableError("throttled", new Error("slow down"));
        return request();
      }) as Store<never>,
    }));
    await start();

    await clock.run(send());

    expect(answers.map(([status, , retryAfter]) => [status, retryAfter])).toEqual([[503, "1"]]);
  });

  it.each([
    ["the first try is done", 30_000, 201],
    ["the first try died", NEVER, 503],
  ])("frozen while it waits, beyond its own invocation: %s", async (_, workMs, status) => {
    let isFrozen = false;
    const { clock, start, send, effects } = service(workMs, (base) => ({
      store: intercepted(base.store, async (method, request) => {
        if (method !== "find" || !isFrozen) return request();
        isFrozen = false;
        await base.clock.sleep(60_000);
        return request();
      }) as Store<never>,
    }));
    await start({}, 40_000);
    isFrozen = true;

    expect((await clock.run(send({}, 20_000))).statusCode).toBe(status);
    expect(effects()).toBe(1);
  });

  it("is asked to retry after a second if a record does not say when it was created", async () => {
    const { clock, start, send, answers, store } = service(20_000);
    await start();
    const [[key, record]] = [...store.records] as unknown as [[string, { createdAt?: number }]];
    const { createdAt: _, ...older } = record;
    (store.records as Map<string, object>).set(key, older);

    await clock.run(send());

    expect(answers).toEqual([[409, 3000, "1"]]);
  });

  it("a store that cannot be read is refused when it is given", () => {
    const { options } = given();
    const store = { ...options.store, claim: () => {}, settle: () => {}, insert: () => {} };

    expect(() =>
      httpIdempotent(() => "never", { ...options, store: store as never, scope: "public" }),
    ).toThrow(/`store` must be a store, .* it needs the methods claim, settle, insert, find/);
  });
});

describe("Retry-After of a 409", () => {
  it.each([
    [0, "1"],
    [1900, "1"],
    [4000, "2"],
    [9000, "5"],
    [19_000, "10"],
    [22_000, "10"],
    [30_000, "5"],
    [34_500, "1"],
  ])(
    "is half of the claim's age, within 1 to 10 s and the rest of the lease: after %d ms it is %s s",
    async (age, seconds) => {
      const { clock, start, send, answers } = service(NEVER, { whenInProgress: "reject" });
      await start();
      await clock.advance(age);

      await send();

      expect(answers).toEqual([[409, age, seconds]]);
    },
  );

  it("counts from the present claim, not from the first one of the key", async () => {
    const { clock, start, send, answers } = service(NEVER, { whenInProgress: "reject" });
    await start();
    await clock.advance(40_000);
    await start();
    await clock.advance(6000);

    await send();

    expect(answers).toEqual([[409, 46_000, "3"]]);
  });
});

describe("a double click, by idempotentFetch", () => {
  /** Both clicks send the same key; each answer with the time at which it came, in ms. */
  async function doubleClick(workMs: number) {
    const { clock, send, effects, answers } = service(workMs);
    const startedAt = clock.now();
    const runtime: ClientRuntime = {
      now: clock.now,
      random: () => 0.5,
      randomBytes: (count) => new Uint8Array(count),
      sleep: (ms) => clock.sleep(ms),
      startTimer: () => () => {},
    };
    const fetch = async (request: Request, init: RequestInit) => {
      const body = await new Response(init.body).text();
      const answer = await send({ headers: Object.fromEntries(request.headers), body });
      return new Response(answer.body, { status: answer.statusCode, headers: answer.headers ?? {} });
    };
    const click = async () => {
      const init = { method: "POST", body: "{}", key: "click", fetch };
      const response = await sendUntilAnswered(runtime, DEFAULTS, "https://api.example/orders", init);
      return [response.status, await response.text(), clock.now() - startedAt] as const;
    };
    const found = await clock.run(Promise.all([click(), clock.sleep(150).then(click)]));
    return { found, effects: effects(), statuses: answers.map(([status]) => status) };
  }

  it.each([
    [300, 1000, 0],
    [2000, 3000, 0],
    [8000, 10_000, 1],
    [20_000, 27_000, 4],
  ])(
    "of work that lasts %d ms has both answers within %d ms, after %d refusals at most",
    async (workMs, withinMs, refusals) => {
      const { found, effects, statuses } = await doubleClick(workMs);

      expect(found.map(([status, body]) => [status, body])).toEqual([
        [201, "order 1"],
        [201, "order 1"],
      ]);
      expect(Math.max(...found.map(([, , atMs]) => atMs))).toBeLessThanOrEqual(withinMs);
      expect(statuses.filter((status) => status === 409).length).toBeLessThanOrEqual(refusals);
      expect(effects).toBe(1);
    },
  );
});

describeOnMiddies("httpIdempotency", (middy) => {
  it("waits for the first answer, by default", async () => {
    const { clock, options, context } = given();
    const handler = middy()
      .use(httpIdempotency({ ...options, scope: "public" }))
      .handler(async () => {
        await clock.sleep(2000);
        return { statusCode: 201, body: "order" };
      });
    const send = () => handler(v2Event({ headers: KEY, startedAt: clock.now() }), context());

    const answers = (await clock.run(Promise.all([send(), send()]))) as Answer[];

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201]);
    expect(bodyOf({ body: JSON.stringify(answers[0]!.body) })).toBe("order");
  });
});
