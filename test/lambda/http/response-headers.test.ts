// Headers of an option are on each answer, of the handler and of onceonly, in the wrapper and in a Middy stack.
import middy from "@middy/core";
import { httpIdempotency, httpIdempotent, InvalidOptionError, StoreUnavailableError } from "onceonly";
import { describe, expect, it } from "vitest";
import { failing } from "../../kit/faults/faulty-store.ts";
import { type Answer, given, pausePoint } from "../given.ts";
import { v2Event } from "./given.ts";

type Event = ReturnType<typeof v2Event>;
type Options = Parameters<typeof httpIdempotent>[1];
type Work = (event: Event, context: never) => Promise<unknown>;

const responseHeaders = ({
  headers,
}: {
  readonly headers?: Readonly<Record<string, string | undefined>>;
}) => ({
  "Access-Control-Allow-Origin": headers?.origin ?? "none",
  "Access-Control-Expose-Headers": "Retry-After, Idempotent-Replayed",
});

const ADAPTERS: Readonly<Record<string, (work: Work, options: Options) => Work>> = {
  httpIdempotent: (work, options) => httpIdempotent(work as never, options) as never,
  httpIdempotency: (work, options) =>
    middy()
      .use(httpIdempotency(options))
      .handler(work as never) as never,
};

describe.each(Object.entries(ADAPTERS))("responseHeaders of %s", (_, adapter) => {
  function world(commits: boolean, more: object = {}) {
    const { options, context, store } = given();
    const held = pausePoint();
    let scope: string | undefined = "ann";
    const work = async (
      event: Event,
      { idempotency }: { idempotency: { commit(result: unknown): unknown } },
    ) => {
      if (`${event.body}`.includes("held")) await held.pause();
      const headers = { Location: "/orders/1", "access-control-allow-origin": "https://hard.example" };
      const answer = { statusCode: 201, headers, body: "order 1" };
      return commits ? idempotency.commit(answer) : answer;
    };
    const shared = { ...options, responseHeaders, scope: () => scope, whenInProgress: "reject", ...more };
    const error = () => new StoreUnavailableError("throttled", undefined);
    const broken = failing(store, "claim", "before", { error });
    const handler = adapter(work as never, shared as never);
    const onBroken = adapter(work as never, { ...shared, store: broken } as never);
    const send = async (key: string | undefined, body: string, origin: string, by = handler) => {
      const headers = { Origin: origin, ...(key && { "Idempotency-Key": key }) };
      return (await by(v2Event({ headers, body }), context() as never)) as Answer;
    };
    const asNobody = () => {
      scope = undefined;
    };
    return { send, held, onBroken, asNobody };
  }

  it.each([true, false])(
    "are on 201, replay, 400, 401, 409, 422 and 503, for each origin its own (commits: %s)",
    async (commits) => {
      const { send, held, onBroken, asNobody } = world(commits);
      const origins = ["a", "b", "c", "d", "e", "f", "g"].map((name) => `https://${name}.example`);
      const [a, b, c, d, e, f, g] = origins as [string, string, string, string, string, string, string];

      const answers = [await send("k1", "1", a), await send("k1", "1", b), await send(undefined, "1", c)];
      const running = send("k2", "held", a);
      await held.reached;
      answers.push(await send("k2", "held", d));
      held.resume();
      await running;
      answers.push(await send("k1", "2", e), await send("k3", "1", f, onBroken));
      asNobody();
      answers.push(await send("k1", "1", g));

      expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201, 400, 409, 422, 503, 401]);
      expect(answers.map(({ headers }) => headers?.["Access-Control-Allow-Origin"])).toEqual(origins);
      for (const { headers } of answers) {
        expect(headers?.["Access-Control-Expose-Headers"]).toBe("Retry-After, Idempotent-Replayed");
        expect(headers).not.toHaveProperty("access-control-allow-origin");
      }
      expect(answers[1]?.headers).toMatchObject({ "Idempotent-Replayed": "true", Location: "/orders/1" });
      expect(answers[3]?.headers).toHaveProperty("Retry-After");
    },
  );

  it("are the same for all if they are an object, and none if it is undefined", async () => {
    const all = { "Access-Control-Allow-Origin": "*" };
    expect((await world(true, { responseHeaders: all }).send("k1", "1", "a")).headers).toMatchObject(all);
    const none = await world(true, { responseHeaders: undefined }).send(undefined, "1", "a");
    expect(none).toMatchObject({ statusCode: 400, headers: { "Content-Type": "application/problem+json" } });
  });

  it.each([["text"], [{ Vary: 1 }], [null]])("reject %j immediately", (wrong) => {
    expect(() => world(true, { responseHeaders: wrong }).send("k1", "1", "a")).toThrow(InvalidOptionError);
  });
});
