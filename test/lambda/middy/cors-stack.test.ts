// The stack of the boilerplates around a wrapped handler: a browser can read each of its answers.
import type middy6 from "@middy/core";
import httpCors from "@middy/http-cors";
import httpErrorHandler from "@middy/http-error-handler";
import httpHeaderNormalizer from "@middy/http-header-normalizer";
import httpJsonBodyParser from "@middy/http-json-body-parser";
import { httpIdempotent, StoreUnavailableError } from "onceonly";
import { afterEach, expect, it, vi } from "vitest";
import { failing } from "../../kit/faults/faulty-store.ts";
import { describeOnMiddies } from "../../kit/middies.ts";
import { type Answer, given, pausePoint } from "../given.ts";
import { v2Event } from "../http/given.ts";

const ORIGIN = "https://shop.example";
const EXPOSED = "Retry-After, Idempotent-Replayed";

const validator = (): middy6.MiddlewareObj => ({
  before: ({ event }) => {
    if (JSON.stringify((event as { body: unknown }).body).includes("invalid"))
      throw Object.assign(new Error("invalid body"), { statusCode: 400, expose: true });
  },
});

/** In the order of the boilerplates. */
const PARTS: readonly (() => unknown)[] = [
  httpHeaderNormalizer,
  httpJsonBodyParser,
  validator,
  () => httpCors({ origin: ORIGIN, exposeHeaders: EXPOSED }),
  () => httpErrorHandler({ logger: false }),
];

function permutations<T>(list: readonly T[]): T[][] {
  if (list.length < 2) return [[...list]];
  return list.flatMap((first, index) =>
    permutations(list.toSpliced(index, 1)).map((others) => [first, ...others]),
  );
}

afterEach(() => {
  vi.restoreAllMocks();
});

describeOnMiddies("httpIdempotent in a stack", (middy) => {
  async function answersOf(parts: typeof PARTS, commits: boolean) {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const { options, context, store } = given();
    const held = pausePoint();
    let scope: string | undefined = "ann";
    const wrap = (own: typeof store) =>
      middy(
        httpIdempotent(
          async (event: ReturnType<typeof v2Event>, { idempotency }) => {
            if (JSON.stringify(event.body).includes("held")) await held.pause();
            const answer = { statusCode: 201, headers: { Location: "/orders/1" }, body: "order 1" };
            return commits ? idempotency.commit(answer) : answer;
          },
          {
            ...options,
            store: own,
            scope: () => scope,
            fingerprint: ({ rawPath, body }) => [rawPath, body],
            whenInProgress: "reject",
          },
        ),
      ).use(parts.map((part) => part() as middy6.MiddlewareObj));
    const handler = wrap(store);
    const broken = wrap(
      failing(store, "claim", "before", { error: () => new StoreUnavailableError("throttled", undefined) }),
    );
    const send = async (key: string | undefined, body: string, by = handler) => {
      const headers = {
        "Content-Type": "application/json",
        Origin: ORIGIN,
        ...(key && { "Idempotency-Key": key }),
      };
      return (await by(v2Event({ headers, body }) as never, context())) as unknown as Answer;
    };

    const first = await send("k1", '{"a":1}');
    const replay = await send("k1", '{"a":1}');
    const missing = await send(undefined, '{"a":1}');
    const mismatch = await send("k1", '{"a":2}');
    const running = send("k2", '{"a":"held"}');
    await held.reached;
    const busy = await send("k2", '{"a":"held"}');
    held.resume();
    await running;
    const unavailable = await send("k3", '{"a":1}', broken);
    scope = undefined;
    const nobody = await send("k1", '{"a":1}');
    return { answers: [first, replay, missing, nobody, busy, mismatch, unavailable], send };
  }

  it.each([true, false])(
    "has the headers of CORS on 201, replay, 400, 401, 409, 422 and 503, in each order of hooks (commits: %s)",
    async (commits) => {
      for (const parts of permutations(PARTS)) {
        const { answers } = await answersOf(parts, commits);

        expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201, 400, 401, 409, 422, 503]);
        for (const { headers } of answers)
          expect(headers).toMatchObject({
            "Access-Control-Allow-Origin": ORIGIN,
            "Access-Control-Expose-Headers": EXPOSED,
          });
        expect(answers[1]!.headers).toMatchObject({ "Idempotent-Replayed": "true", Location: "/orders/1" });
        expect(answers[4]!.headers).toMatchObject({ "Retry-After": "1" });
      }
    },
  );

  it("has them on the refusals of parser and validator too, in the order of the boilerplates", async () => {
    const { send } = await answersOf(PARTS, true);

    for (const [body, status] of [
      ['{"a":"invalid"}', 400],
      ['{"a":', 415],
    ] as const) {
      const answer = await send("k9", body);
      expect([answer.statusCode, answer.headers]).toMatchObject([
        status,
        { "Access-Control-Allow-Origin": ORIGIN },
      ]);
    }
  });
});
