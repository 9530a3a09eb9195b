// The HTTP adapter on servers: the same cases on each, over real HTTP.
import { Readable } from "node:stream";
import { httpIdempotent } from "onceonly";
import { fakeClock, fakeLambdaContext, MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { failing } from "../kit/faults/faulty-store.ts";
import { gate } from "../kit/time/gate.ts";
import { post, SERVERS } from "./given.ts";

describe.each(Object.entries(SERVERS))("%s", (_, start) => {
  it("answers a retry as it answered first, and runs once", async () => {
    let runs = 0;
    const site = await start({}, ({ key }, text) => ({
      headers: { location: `/orders/${++runs}`, "set-cookie": ["a=1", "b=2"], "x-request-id": "first" },
      body: `${key} ${text}`,
    }));

    const first = await post(site);
    const again = await post(site);

    expect(first).toMatchObject({ status: 201, text: 'key-1 {"item":"book"}', replayed: null });
    expect(first.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(again).toMatchObject({ status: 201, text: first.text, replayed: "true" });
    expect(again.headers.get("location")).toBe("/orders/1");
    expect(again.headers.get("x-request-id")).toBe(null);
    expect(again.headers.getSetCookie()).toEqual([]);
    expect(runs).toBe(1);
  });

  it("rejects a request without a key, without a caller, or with another payload, and runs nothing", async () => {
    const scopes = ["tenant-1", undefined, "tenant-1"];
    let runs = 0;
    const site = await start({ scope: () => scopes.shift() }, () => ({ body: `${++runs}` }));
    await post(site);

    const missing = await post(site, { key: null });
    const nobody = await post(site);
    const other = await post(site, { body: "another" });

    expect([missing.status, nobody.status, other.status]).toEqual([400, 401, 422]);
    expect(missing.headers.get("content-type")).toBe("application/problem+json");
    expect(JSON.parse(other.text)).toMatchObject({ code: "FINGERPRINT_MISMATCH" });
    expect(runs).toBe(1);
  });

  it("answers 409 with Retry-After while the first is running", async () => {
    const { opened, open } = gate<string>();
    const begun = gate<void>();
    const site = await start({ whenInProgress: "reject" }, async () => {
      begun.open();
      return { body: await opened };
    });
    const first = post(site);
    await begun.opened;

    const second = await post(site);
    open("done");

    expect(second.status).toBe(409);
    expect(Number(second.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await first).text).toBe("done");
  });

  it("answers 503 if the store is down, and runs nothing", async () => {
    let runs = 0;
    const store = failing(new MemoryStore(), "claim", "before");
    const site = await start({ store }, () => ({ body: `${++runs}` }));

    expect((await post(site)).status).toBe(503);
    expect(runs).toBe(0);
  });

  it("passes errors to the framework, whose answer is not recorded: a retry runs", async () => {
    let runs = 0;
    const site = await start({}, () => {
      if (++runs === 1) throw new Error("try again");
      return { body: "done" };
    });

    expect(await post(site)).toMatchObject({ status: 500, text: '{"failed":"try again"}' });
    expect(await post(site)).toMatchObject({ status: 201, text: "done", replayed: null });
  });

  it("lets other methods pass, and each use of the execution throws there", async () => {
    const site = await start({}, ({ key }) => ({ body: key }));

    const { status, text } = await post(site, { method: "GET" });

    expect(status).toBe(500);
    expect(JSON.parse(text).failed).toContain("`methods`");
  });

  it("H68: reads a streamed answer to its end, and replays it", async () => {
    const site = await start({}, () => ({ body: Readable.from([Buffer.from("one "), Buffer.from("two")]) }));

    expect(await post(site)).toMatchObject({ status: 201, text: "one two" });
    expect(await post(site)).toMatchObject({ status: 201, text: "one two", replayed: "true" });
  });

  it.each([
    ["is larger than `maxResponseBytes`", { body: "x".repeat(101) }],
    ["is a stream without an end", { body: "endless" }],
    ["is a stream of events", { headers: { "content-type": "text/event-stream" }, body: "data: 1\n\n" }],
  ])("H68: refuses an answer that %s, each time, and runs once", async (_what, answer) => {
    let runs = 0;
    const site = await start({ maxResponseBytes: 100 }, () => {
      runs++;
      return answer.body === "endless" ? { body: Readable.from(endless()) } : answer;
    });

    const first = await post(site);
    const again = await post(site);

    expect([first.status, again.status]).toEqual([500, 500]);
    expect(JSON.parse(first.text)).toMatchObject({ code: "RESPONSE_NOT_STORABLE" });
    expect(JSON.parse(again.text)).toMatchObject({ code: "RESPONSE_NOT_STORABLE" });
    expect(runs).toBe(1);
  });

  it("replays binary bodies", async () => {
    const bytes = Uint8Array.from([0, 255, 128, 10, 13]);
    const headers = { "content-type": "application/octet-stream" };
    const site = await start({}, () => ({ headers, body: bytes }));

    expect([...(await post(site)).bytes]).toEqual([...bytes]);
    expect([...(await post(site)).bytes]).toEqual([...bytes]);
  });

  it("answers with the committed result, whatever the handler sends after that", async () => {
    const store = new MemoryStore();
    const site = await start({ store }, async ({ commit }) => {
      await commit(
        { statusCode: 202, headers: { "x-order": "1" }, body: "committed" },
        { writes: [{ table: "orders", key: "1", item: { id: "1" } }] },
      );
      return { status: 500, body: "too late" };
    });

    expect(await post(site)).toMatchObject({ status: 202, text: "committed" });
    const again = await post(site);
    expect(again).toMatchObject({ status: 202, text: "committed", replayed: "true" });
    expect(again.headers.get("x-order")).toBe("1");
    expect(store.table("orders").size).toBe(1);
  });

  it("H61: holds a short lease, and renews it while the handler runs", async () => {
    const clock = fakeClock();
    const store = new MemoryStore();
    const { opened, open } = gate<void>();
    const begun = gate<void>();
    const site = await start({ store, clock, clockSkewSeconds: 0 }, async () => {
      begun.open();
      await opened;
      return { body: "done" };
    });
    const first = post(site);
    await begun.opened;
    const leaseLeft = () => ([...store.records.values()][0]?.leaseEndsAt ?? 0) - clock.now();
    expect(leaseLeft()).toBe(30_000);

    await clock.advance(3_600_000);

    expect(leaseLeft()).toBeGreaterThan(0);
    open();
    expect((await first).text).toBe("done");
  });

  it("knows the requests of a Lambda function: a key moves between both", async () => {
    const store = new MemoryStore();
    const site = await start({ store }, () => ({ body: "by the server" }));
    await post(site);
    const handler = httpIdempotent(async () => ({ statusCode: 500 }), {
      operation: "create-order",
      store,
      scope: () => "tenant-1",
    });

    const answer = await handler(
      {
        version: "2.0",
        rawPath: "/orders",
        rawQueryString: "a=1",
        headers: { "idempotency-key": "key-1" },
        body: '{"item":"book"}',
        requestContext: { http: { method: "POST" } },
      } as object,
      fakeLambdaContext({ clock: fakeClock() }),
    );

    expect(answer).toMatchObject({ statusCode: 201, body: "by the server" });
  });

  it("records the answer to a caller that has gone, and a retry gets it", async () => {
    const { opened, open } = gate<void>();
    const begun = gate<void>();
    let runs = 0;
    const site = await start({}, async () => {
      runs++;
      begun.open();
      await opened;
      return { body: "done" };
    });
    const leaving = new AbortController();
    const first = post(site, { signal: leaving.signal }).catch(() => "gone");
    await begun.opened;
    leaving.abort();
    expect(await first).toBe("gone");

    open();

    expect(await post(site)).toMatchObject({ status: 201, text: "done" });
    expect(runs).toBe(1);
  });

  it("answers a request that is running when the server closes, and has recorded it", async () => {
    const store = new MemoryStore();
    const { opened, open } = gate<void>();
    const begun = gate<void>();
    const site = await start({ store }, async () => {
      begun.open();
      await opened;
      return { body: "done" };
    });
    const first = post(site);
    await begun.opened;

    site.close();
    open();

    expect((await first).text).toBe("done");
    expect([...store.records.values()]).toMatchObject([{ state: "completed" }]);
  });
});

async function* endless(): AsyncGenerator<Buffer> {
  for (;;) yield Buffer.from("again and again");
}
