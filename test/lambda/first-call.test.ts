import { httpIdempotent, idempotent, idempotentBatch, runOnce } from "onceonly";
import { fakeClock, fakeLambdaContext, MemoryStore } from "onceonly/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const NOW = Date.UTC(2026, 10, 27, 12, 30, 45, 678);
const clock = fakeClock(NOW);
let lines: string[];

beforeEach(() => {
  lines = [];
  vi.spyOn(console, "warn").mockImplementation((line: string) => void lines.push(line));
});
afterEach(() => {
  vi.restoreAllMocks();
});

const context = () => fakeLambdaContext({ clock });
const given = () => ({ operation: "order", store: new MemoryStore(), clock });

/** What the first call logs about a key. */
async function loggedFor(key: string, event: object = {}): Promise<string[]> {
  await idempotent(async () => 1, { ...given(), key: () => key })(event, context());
  return lines;
}

describe("S1: a key that holds the present time", () => {
  it.each([
    ["milliseconds", `o-${NOW - 3}`],
    ["seconds", `o-${Math.floor(NOW / 1000)}`],
    ["an ISO time", "o-2026-11-27T12:30:44.123Z"],
    ["an ISO minute", "o-2026-11-27T12:30"],
    ["the day", "o-2026-11-27"],
    ["the day of a zone ahead", "o-2026-11-28"],
    ["milliseconds in base 36", `o-${(NOW - 3).toString(36)}`],
    ["milliseconds in hexadecimal", `o-${(NOW - 3).toString(16)}`],
  ])("is reported: %s", async (_, key) => {
    expect(await loggedFor(key)).toEqual([expect.stringContaining("contains the current time or date")]);
  });

  it.each([
    ["no time at all", "order-7", {}],
    ["a time of the event", `o-${NOW}`, { sentAt: NOW }],
    ["a day of the event", "o-2026-11-27", { time: "2026-11-27T09:00:00Z" }],
    ["an older time", `o-${NOW - 60_000}`, {}],
    ["an older second", `o-${Math.floor(NOW / 1000) - 60}`, {}],
    ["an older minute", "o-2026-11-27T12:10", {}],
    ["an older day", "o-2026-11-20", {}],
    ["a longer number", `o-${NOW}00`, {}],
    ["what is no date", "o-2026-99-99", {}],
    ["a time in a base64 body", `o-${NOW}`, { body: Buffer.from(`{"at":${NOW}}`).toString("base64") }],
    ["a time in bytes", `o-${NOW}`, { value: Buffer.from(`{"at":${NOW}}`) }],
    ["a time in base 36 of the event", `o-${NOW.toString(36)}`, { id: `x${NOW.toString(36)}` }],
    ["a time beside an event that is not JSON", `o-${NOW}`, { count: 1n }],
  ])("is not: %s", async (_, key, event) => {
    const handler = idempotent(async () => 1, { ...given(), key: () => key, fingerprint: () => "" });
    await handler(event, context());

    expect(lines).toEqual([]);
  });
});

describe("S1: a scope that is a header of the caller's", () => {
  const request = (headers: Readonly<Record<string, string>>) => ({
    version: "2.0",
    rawPath: "/orders",
    headers: { "idempotency-key": "k1", ...headers },
    requestContext: { http: { method: "POST" } },
  });
  const call = (headers: Readonly<Record<string, string>>) =>
    httpIdempotent(async () => ({ statusCode: 200 }), { ...given(), scope: () => "acme" })(
      request(headers),
      context(),
    );

  it("is reported by the header's name", async () => {
    await call({ "X-Tenant": "acme" });

    expect(lines).toEqual([expect.stringContaining("is the header `X-Tenant`, which any caller can set")]);
  });

  it("is not reported for another value, nor for the header that Lambda sets for a tenant", async () => {
    await call({ "x-tenant": "other" });
    await call({ "X-Amz-Tenant-Id": "acme" });

    expect(lines).toEqual([]);
  });
});

describe("S1: two wrappers of one operation on one store", () => {
  const twins = (one: object, other: object) => {
    const key = () => "1";
    return [
      idempotent(async () => "one", { ...given(), key, ...one }),
      idempotent(async () => "two", { ...given(), key, ...other }),
    ];
  };
  const callEach = async (handlers: readonly ((event: object, own: never) => unknown)[]) => {
    for (const handler of [...handlers, ...handlers]) await handler({}, context() as never);
  };

  it("are reported once", async () => {
    const { store } = given();
    await callEach(twins({ store }, { store }));
    await callEach(twins({ store }, { store }));

    expect(lines).toEqual([
      expect.stringContaining('two wrappers use the operation "order" on the same store'),
    ]);
  });

  it("are not, on two stores or under two operations", async () => {
    const { store } = given();
    await callEach(twins({}, {}));
    await callEach(twins({ store }, { store, operation: "refund" }));

    expect(lines).toEqual([]);
  });

  it("are not derived from a batch's own options", async () => {
    const handler = idempotentBatch(async () => 1, given());
    const record = { messageId: "m1", body: "{}", eventSource: "aws:sqs", eventSourceARN: "a:b:c:d:e:q" };
    const changed = { ...record, eventSource: "aws:kinesis", kinesis: { sequenceNumber: "1", data: "e30=" } };
    for (const one of [record, changed])
      await handler({ Records: [one] } as never, context()).catch(() => {});

    expect(lines).toEqual([]);
  });
});

it.each([
  [3_600_000, "41.7 days; did you mean 3600 seconds?"],
  [600_000, "6.9 days; did you mean 600 seconds?"],
])("S1: a retention of %i seconds was meant in milliseconds", (retentionSeconds, text) => {
  idempotent(async () => 1, { ...given(), key: () => "1", retentionSeconds });

  expect(lines).toEqual([expect.stringContaining(text)]);
});

it.each([86_400, 604_800, 1_209_600, 2_592_000, 5_184_000, 8_640_000, 31_536_000, 90_000])(
  "S1: a retention of %i seconds is used as it is",
  (retentionSeconds) => {
    idempotent(async () => 1, { ...given(), key: () => "1", retentionSeconds });

    expect(lines).toEqual([]);
  },
);

it("S1: a step that is not awaited is reported once, and its end is waited for", async () => {
  let isDone = false;
  const handler = (key: string) =>
    runOnce({ ...given(), operation: "mails", leaseSeconds: 30 }, key, {}, async ({ step }) => {
      void step("mail", async () => {
        await Promise.resolve();
        isDone = true;
      });
    });

  await handler("1");
  await handler("2");

  expect(isDone).toBe(true);
  expect(lines).toEqual([
    'onceonly: step "mail" of "mails" was still running when the handler returned: await it',
  ]);
});
