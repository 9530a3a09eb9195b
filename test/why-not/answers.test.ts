/** docs/proof/why-not.md, answers: each schedule breaks the pattern that is often recommended, and not onceonly. */
import { httpIdempotent, type WithIdempotency } from "onceonly";
import type { MemoryWrite } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { type Answer, given } from "../lambda/given.ts";
import { v2Event } from "../lambda/http/given.ts";

interface Call {
  readonly key?: string;
}
type Handle = (context?: WithIdempotency<MemoryWrite>) => Promise<Answer>;
type Service = (call: Call) => Promise<Answer>;

/** The recommended pattern, with its rules as parameters: a map from key to answer. */
function naive(
  handle: Handle,
  rules: { stores?: (status: number) => boolean; replayStatus?: number } = {},
): Service {
  const answers = new Map<string, Answer>();
  return async ({ key }) => {
    if (key === undefined) return handle();
    const former = answers.get(key);
    if (former) return { ...former, statusCode: rules.replayStatus ?? former.statusCode };
    const answer = await handle();
    if (rules.stores?.(answer.statusCode) ?? true) answers.set(key, answer);
    return answer;
  };
}

/** The same handler behind onceonly. */
function protectedBy(handle: Handle): Service {
  const { options, context } = given();
  const handler = httpIdempotent(async (_event, lambda) => handle(lambda), { ...options, scope: "public" });
  return async ({ key }) => {
    const headers: Record<string, string> = key === undefined ? {} : { "Idempotency-Key": key };
    return (await handler(v2Event({ headers }), context())) as Answer;
  };
}

/** A shop whose handler writes an order and answers with `statusCode`. */
function shop(statusCode: number) {
  const world = { orders: 0 };
  const handle: Handle = async () => {
    const id = ++world.orders;
    return { statusCode, headers: { location: `/orders/${id}` }, body: "" };
  };
  return { world, handle };
}

const only2xx = { stores: (status: number) => status >= 200 && status < 300 };

describe("storing only 2xx", () => {
  it("creates a second order when the first answer was a redirect", async () => {
    const { world, handle } = shop(303);
    const service = naive(handle, only2xx);

    const locations = [await service({ key: "k1" }), await service({ key: "k1" })].map(
      ({ headers }) => headers?.location,
    );

    expect(locations).toEqual(["/orders/1", "/orders/2"]);
    expect(world.orders).toBe(2);
  });

  it("declines a payment twice when the decline is recorded and answered with 402", async () => {
    const { world, handle } = shop(402);
    const service = naive(handle, only2xx);
    await service({ key: "k1" });

    await service({ key: "k1" });

    expect(world.orders).toBe(2);
  });

  it("onceonly: stores a redirect", async () => {
    const { world, handle } = shop(303);
    const service = protectedBy(handle);

    const locations = [await service({ key: "k1" }), await service({ key: "k1" })].map(
      ({ headers }) => headers?.location,
    );

    expect(locations).toEqual(["/orders/1", "/orders/1"]);
    expect(world.orders).toBe(1);
  });

  it("onceonly: stores what was committed, whatever its status", async () => {
    let declines = 0;
    const write: MemoryWrite = { table: "declines", key: "k1", item: () => ({ count: ++declines }) };
    const service = protectedBy(async (context) =>
      context!.idempotency.commit({ statusCode: 402, body: "declined" }, { writes: [write] }),
    );

    const answers = [await service({ key: "k1" }), await service({ key: "k1" })];

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([402, 402]);
    expect(declines).toBe(1);
  });
});

describe("200 on replay instead of the first status", () => {
  /** A client that sends a welcome to whom it created itself. It asks again, because the first answer is lost. */
  async function welcomes(service: Service) {
    await service({ key: "k1" });
    const answer = await service({ key: "k1" });
    return answer.statusCode === 201 ? 1 : 0;
  }

  it("makes a client whose first response was lost believe that the account existed already", async () => {
    expect(await welcomes(naive(shop(201).handle, { replayStatus: 200 }))).toBe(0);
  });

  it("onceonly: replays 201, and a header says that it is a replay", async () => {
    const service = protectedBy(shop(201).handle);

    expect(await welcomes(service)).toBe(1);
    expect((await service({ key: "k1" })).headers).toMatchObject({ "Idempotent-Replayed": "true" });
  });
});

describe("requests without a key let through", () => {
  it("creates two orders for a client whose proxy drops the header", async () => {
    const { world, handle } = shop(201);
    const service = naive(handle);
    await service({});

    await service({});

    expect(world.orders).toBe(2);
  });

  it("onceonly: refuses the first such request, before anything happens", async () => {
    const { world, handle } = shop(201);
    const service = protectedBy(handle);

    expect((await service({})).statusCode).toBe(400);
    expect(world.orders).toBe(0);
  });
});
