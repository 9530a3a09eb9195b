// Requests that pass have no record: a handler that treats them as recorded gets an error.
import { httpIdempotency, httpIdempotent, idempotent, type WithIdempotency } from "onceonly";
import { describe, expect, it } from "vitest";
import { describeOnMiddies } from "../../kit/middies.ts";
import { given } from "../given.ts";
import { v2Event } from "./given.ts";

const MEMBERS = [
  "key",
  "operation",
  "scope",
  "attempt",
  "traceparent",
  "signal",
  "commit",
  "childKey",
] as const;
const put = v2Event({ method: "PUT", headers: { "Idempotency-Key": '"k"' } });

const messageOf = (use: () => unknown): string => {
  try {
    use();
  } catch (error) {
    return `${(error as { code?: unknown }).code}: ${(error as Error).message}`;
  }
  return "nothing was thrown";
};

/** What each use of the execution says, and what is printed of the context. */
function uses(context: WithIdempotency) {
  const messages = MEMBERS.map((name) => messageOf(() => context.idempotency[name]));
  return { messages, printed: JSON.stringify(context.idempotency), copied: { ...context.idempotency } };
}

const EXPECTED = {
  messages: MEMBERS.map(
    (name) =>
      `INVALID_OPTION: \`methods\` must include this request's method, and \`skip\` must not name it: it runs without a record, and has no \`context.idempotency.${name}\``,
  ),
  printed: "{}",
  copied: {},
};

describe("httpIdempotent", () => {
  it("reports each use of `context.idempotency` in a request that passes", async () => {
    const { options, context, store } = given();
    const handler = httpIdempotent(async (_: object, ctx) => uses(ctx), { ...options, scope: "public" });

    expect(await handler(put, context())).toEqual(EXPECTED);
    expect(store.records.size).toBe(0);
  });

  it("leaves the execution of an operation around it to a request that passes", async () => {
    const { options, context } = given();
    const inner = httpIdempotent(async (_: object, ctx) => ctx.idempotency.operation, {
      ...options,
      scope: "public",
    });
    const outer = idempotent(async (event: object, ctx) => inner(event, ctx), {
      ...options,
      operation: "outer",
      key: () => "k",
    });

    expect(await outer(put, context())).toBe("outer");
  });
});

describeOnMiddies("httpIdempotency", (middy) => {
  it("reports each use of `context.idempotency` in a request that passes", async () => {
    const { options, context } = given();
    const handler = middy()
      .use(httpIdempotency({ ...options, scope: "public" }))
      .handler(async (_event: object, ctx: WithIdempotency) => uses(ctx));

    expect(await handler(put as never, context())).toEqual(EXPECTED);
  });
});
