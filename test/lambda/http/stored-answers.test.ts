// Records of another hand under an HTTP operation: an older deployment, a plain `idempotent`, a script, an attacker.
import { httpIdempotency, httpIdempotent } from "onceonly";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { describeOnMiddies } from "../../kit/middies.ts";
import { type Answer, bodyOf, given } from "../given.ts";
import { EVENT_FORMS } from "./given.ts";

const headers = { "Idempotency-Key": '"k1"' };

/** No response of ours: what a gateway would make something of, or fail on. */
const WRONG: readonly unknown[] = [
  null,
  true,
  7,
  "text",
  "",
  [],
  [{ statusCode: 200 }],
  {},
  { orderId: 1 },
  { statusCode: null },
  { statusCode: "" },
  { statusCode: " " },
  { statusCode: "created" },
  { statusCode: 0 },
  { statusCode: 99 },
  { statusCode: 600 },
  { statusCode: 200.5 },
  { statusCode: [200] },
  { statusCode: { valueOf: 200 } },
  { statusCode: 200, body: { id: 1 } },
  { statusCode: 200, body: 7 },
  { statusCode: 200, headers: "a: b" },
  { statusCode: 200, headers: ["a"] },
  { statusCode: 200, multiValueHeaders: 7 },
  { statusCode: 200, multiValueHeaders: [] },
];

const RIGHT: readonly object[] = [
  { statusCode: 200 },
  { statusCode: "201", body: "" },
  { statusCode: 599, headers: {}, multiValueHeaders: {}, body: "b", isBase64Encoded: true },
  { statusCode: 204, headers: null, body: null },
];

describe.each(EVENT_FORMS)("httpIdempotent with %s", (_, form) => {
  beforeEach(() => {
    vi.spyOn(console, "error").mockImplementation(() => {});
  });

  const replayOf = async (stored: unknown) => {
    const { options, store, context } = given();
    let runs = 0;
    const handler = httpIdempotent(async () => ({ statusCode: 201, body: `${++runs}` }), {
      ...options,
      scope: "public",
    });
    const send = async () => (await handler(form({ headers }), context())) as unknown as Answer;
    await send();
    const [[recordKey, record]] = [...store.records] as [[string, object]];
    const result = stored === undefined ? undefined : { in: "record", text: JSON.stringify(stored) };
    (store.records as Map<string, unknown>).set(recordKey, { ...record, result });
    const answer = await send();
    expect(runs).toBe(1);
    return answer;
  };

  it("answers a record without a result with 410 and does not run", async () => {
    const answer = await replayOf(undefined);

    expect(answer.statusCode).toBe(410);
    expect(bodyOf(answer)).toMatchObject({ status: 410, code: "RESULT_NOT_KEPT" });
  });

  it.each(WRONG.map((stored) => [JSON.stringify(stored), stored]))(
    "answers a stored result %s, which isn't a response, with 500 and does not run",
    async (_text, stored) => {
      const answer = await replayOf(stored);

      expect(answer.statusCode).toBe(500);
      expect(bodyOf(answer)).toMatchObject({ status: 500, code: "RECORD_CORRUPT" });
    },
  );

  it.each(RIGHT.map((stored) => [JSON.stringify(stored), stored]))(
    "replays the stored result %s",
    async (_text, stored) => {
      expect(await replayOf(stored)).toMatchObject({ statusCode: (stored as Answer).statusCode });
    },
  );
});

describeOnMiddies("httpIdempotency on Middy %s", (middy) => {
  it("answers a stored result that isn't a response with 500", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const { options, store, context } = given();
    const handler = middy(async () => ({ statusCode: 201, body: "" })).use(
      httpIdempotency({ ...options, scope: "public" }),
    );
    const event = EVENT_FORMS[0][1]({ headers });
    await handler(event, context());
    const [[recordKey, record]] = [...store.records] as [[string, object]];
    const result = { in: "record", text: "7" };
    (store.records as Map<string, unknown>).set(recordKey, { ...record, result });

    expect(await handler(event, context())).toMatchObject({ statusCode: 500 });
  });
});
