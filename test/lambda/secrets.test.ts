import { createHash } from "node:crypto";
import { httpIdempotent } from "onceonly";
import { expect, it } from "vitest";
import { type Answer, given, pausePoint } from "./given.ts";
import { EVENT_FORMS } from "./http-events.ts";

const SECRET = "canary-5f2e";

/** What is told beside the caller's own answer. */
function told(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner instanceof Error ? { name: inner.name, message: inner.message } : inner,
  );
}

it.each(EVENT_FORMS)(
  "H38: behind %s no secret of key, payload or result is in events, messages or problem bodies",
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
        scope: (event: ReturnType<typeof form>) => (event.body === "none" ? undefined : "caller"),
        fingerprint: (event) => (event.body?.startsWith("{") ? JSON.parse(event.body) : event.body),
      },
    );
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
    await send(SECRET, `{"${SECRET.replace("-", "")}":12345678901234567890}`);
    await clock.advance(1);

    expect(problems.map(({ statusCode }) => statusCode).sort()).toEqual([
      400, 400, 400, 400, 401, 409, 422, 500, 500, 500,
    ]);
    expect(
      told(problems.map(({ body, headers, multiValueHeaders }) => [body, headers, multiValueHeaders])),
    ).not.toContain(SECRET);
    expect(events.length).toBeGreaterThan(3);
    expect(told(events)).not.toContain(SECRET);
    expect(told(events)).not.toContain(createHash("sha256").update(`${SECRET}-1`).digest("base64url"));
  },
);
