import { createHash } from "node:crypto";
import { inspect } from "node:util";
import { httpIdempotent, StoreUnavailableError } from "onceonly";
import { describe, expect, it, vi } from "vitest";
import { type Answer, given, pausePoint } from "./given.ts";
import { EVENT_FORMS } from "./http/given.ts";

const SECRET = "canary-5f2e";

/** What is reported in addition to the caller's own response, in the form in which it may be printed. */
function textOf(value: unknown): string {
  return inspect(value, { depth: Number.POSITIVE_INFINITY, maxStringLength: null }) + JSON.stringify(value);
}

const log = vi.spyOn(console, "error").mockImplementation(() => {});

describe("httpIdempotent", () => {
  it.each(EVENT_FORMS)(
    "H38: with %s no secret of key, payload or result is in events, messages or problem bodies",
    async (_, form) => {
      const { options, clock, context, events } = given();
      const first = pausePoint();
      let runs = 0;
      const results: unknown[] = [
        { statusCode: 500, body: SECRET },
        { statusCode: 201, body: { nested: SECRET } },
        { statusCode: 201, headers: new Headers({ a: SECRET }), body: SECRET },
      ];
      const handler = httpIdempotent(
        async () => {
          await first.pause();
          return results[runs++ % results.length];
        },
        {
          ...options,
          whenInProgress: "reject",
          scope: (event: ReturnType<typeof form>) => (event.body === "none" ? undefined : "caller"),
          fingerprint: (event) => (event.body?.startsWith("{") ? JSON.parse(event.body) : event.body),
        },
      );
      log.mockClear();
      const problems: Answer[] = [];
      const send = async (key: string, body = SECRET) => {
        const headers = { "Idempotency-Key": key };
        const answer = (await handler(form({ headers, body }), context())) as Answer;
        if (answer.statusCode !== 500 || answer.body !== SECRET) problems.push(answer);
      };

      const running = send(`${SECRET}-1`);
      await first.reached;
      await send(`${SECRET}-1`);
      await send(`${SECRET}-1`, `${SECRET}!`);
      first.resume();
      await running;
      await send(`${SECRET}-2`);
      await send(`${SECRET}-2`);
      await send(`${SECRET}-3`);
      await send(`"${SECRET}`);
      await send(`${SECRET} `.repeat(2));
      await send(SECRET.repeat(40));
      await send(SECRET, "none");
      await send(SECRET, `{"${SECRET}":12345678901234567890}`);
      await clock.advance(1);

      expect(problems.map(({ statusCode }) => statusCode).sort()).toEqual([
        400, 400, 400, 400, 401, 409, 422, 500, 500, 500,
      ]);
      expect(
        textOf(problems.map(({ body, headers, multiValueHeaders }) => [body, headers, multiValueHeaders])),
      ).not.toContain(SECRET);
      expect(log.mock.calls).toHaveLength(3);
      expect(textOf(log.mock.calls)).not.toContain(SECRET);
      expect(events.length).toBeGreaterThan(3);
      expect(textOf(events)).not.toContain(SECRET);
      expect(textOf(events)).not.toContain(createHash("sha256").update(`${SECRET}-1`).digest("base64url"));
    },
  );

  it("H38: reveals nothing of the database to the caller, and logs which error it was", async () => {
    log.mockClear();
    const { options, context } = given();
    const cause = Object.assign(new Error(SECRET), { name: "ProvisionedThroughputExceededException" });
    const failing = new Proxy(options.store, {
      get: (store, name, receiver) =>
        name === "claim"
          ? () => Promise.reject(new StoreUnavailableError("throttled", cause))
          : Reflect.get(store, name, receiver),
    });
    const { observe: _, ...unobserved } = options;
    const handler = httpIdempotent(async () => "never", { ...unobserved, store: failing, scope: "public" });

    const answer = (await handler(
      EVENT_FORMS[1][1]({ headers: { "Idempotency-Key": "k" } }),
      context(),
    )) as unknown;

    expect(JSON.parse((answer as Answer).body)).toEqual({
      type: expect.stringContaining("#store_unavailable"),
      title: "store unavailable",
      status: 503,
      detail: "the service can't check idempotency keys at the moment",
      code: "STORE_UNAVAILABLE",
    });
    expect(log.mock.calls).toEqual([
      [
        JSON.stringify({
          level: "ERROR",
          code: "STORE_UNAVAILABLE",
          status: 503,
          operation: options.operation,
          message: "the idempotency store failed (throttled: ProvisionedThroughputExceededException)",
        }),
      ],
    ]);
  });

  it("H38: answers a payload whose fields have long or secret names without them", async () => {
    const { options, context } = given();
    const handler = httpIdempotent(async () => "never", {
      ...options,
      scope: "public",
      fingerprint: (event: { body: string }) => JSON.parse(event.body),
    });
    const body = `{"${SECRET.repeat(10_000)}": 12345678901234567890}`;

    const answer = (await handler(
      EVENT_FORMS[1][1]({ headers: { "Idempotency-Key": "k" }, body }) as never,
      context(),
    )) as unknown as Answer;

    expect(answer.statusCode).toBe(400);
    expect(answer.body).not.toContain("canary");
    expect(answer.body.length).toBeLessThan(500);
  });
});
