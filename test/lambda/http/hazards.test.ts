import { callerFromAuthorizer, callerFromJwt, httpIdempotency, httpIdempotent, runOnce } from "onceonly";
import { describe, expect, it } from "vitest";
import { describeOnMiddies } from "../../kit/middies.ts";
import { type Answer, bodyOf, given, pausePoint } from "../given.ts";
import { functionUrlEvent, type RequestParts, v1Event, v2Event } from "./given.ts";

const headers = { "Idempotency-Key": '"k1"' };
const tenant = (name: string) => ({ lambda: { tenant: name } });

describe("httpIdempotent", () => {
  it("H21: answers a tenant that uses another one's key exactly as one with a new key", async () => {
    const { options, context } = given();
    let effects = 0;
    const handler = httpIdempotent(async () => ({ statusCode: 201, body: `${++effects}` }), {
      ...options,
      scope: callerFromAuthorizer("tenant"),
    });
    const send = (name: string, body: string, key = '"k1"') =>
      handler(v2Event({ headers: { "Idempotency-Key": key }, body, authorizer: tenant(name) }), context());

    expect(await send("ann", "{}")).toEqual({ statusCode: 201, body: "1" });
    expect(await send("bob", "{}")).toEqual({ statusCode: 201, body: "2" });
    expect(await send("eve", "other")).toEqual({ statusCode: 201, body: "3" });
    expect(await send("eve", "other", '"fresh"')).toEqual({ statusCode: 201, body: "4" });
  });

  it("H21: reads no scope from anything that the client can write", async () => {
    const { options, context, store } = given();
    const handler = httpIdempotent(async () => "never", { ...options, scope: callerFromJwt() });
    const forged = v2Event({
      headers: { ...headers, authorization: "Bearer sub=ann", "x-tenant": "ann" },
      body: JSON.stringify({ requestContext: { authorizer: { jwt: { claims: { sub: "ann" } } } } }),
    });

    const answer = (await handler(forged, context())) as unknown;

    expect(bodyOf(answer)).toMatchObject({ status: 401, code: "SCOPE_MISSING" });
    expect(store.records.size).toBe(0);
  });

  it.each([undefined, null, "", 7])(
    "H21: treats a scope of %j as a missing caller, not as a shared scope",
    async (scope) => {
      const { options, context, store } = given();
      const handler = httpIdempotent(async () => "never", { ...options, scope: () => scope as string });

      expect(bodyOf(await handler(v2Event({ headers }), context())).status).toBe(401);
      expect(store.records.size).toBe(0);
    },
  );

  it("reports a missing key before a missing caller", async () => {
    const { options, context } = given();
    const handler = httpIdempotent(async () => "never", { ...options, scope: () => undefined });

    expect(bodyOf(await handler(v2Event(), context())).status).toBe(400);
    expect(bodyOf(await handler(v2Event({ headers: { "idempotency-key": "a b" } }), context())).status).toBe(
      400,
    );
    expect(bodyOf(await handler(v2Event({ headers }), context())).status).toBe(401);
  });

  it("H23: rejects a request without a key, or runs it under a fresh one and reports it", async () => {
    const { options, context, decisions } = given();
    const keys: string[] = [];
    const handlerFor = (whenKeyMissing?: "run") =>
      httpIdempotent(
        async (_event: unknown, { idempotency }) => {
          keys.push(idempotency.key);
          return idempotency.commit(
            { statusCode: 201, body: "" },
            { writes: [{ table: "orders", key: idempotency.key, item: {} }] },
          );
        },
        { ...options, scope: "public", whenKeyMissing },
      );

    expect(bodyOf(await handlerFor()(v2Event(), context())).status).toBe(400);
    expect(keys).toEqual([]);

    const event = v2Event();
    expect(await handlerFor("run")(event, context())).toEqual({ statusCode: 201, body: "" });
    expect(await handlerFor("run")(event, context())).toEqual({ statusCode: 201, body: "" });
    expect(new Set(keys).size).toBe(2);
    const unprotected = ["ran-unprotected", "executed"];
    expect(decisions()).toEqual(["key-missing", ...unprotected, ...unprotected]);
  });

  it("throws the error of another operation inside the handler: it isn't an answer about this key", async () => {
    const { options, context, states } = given();
    const inner = { ...options, operation: "reserve-stock", leaseSeconds: 5 };
    await runOnce(inner, "sku-1", { quantity: 1 }, () => "reserved");
    const handler = httpIdempotent(() => runOnce(inner, "sku-1", { quantity: 2 }, () => "never"), {
      ...options,
      scope: "public",
    });
    const event = v2Event({ headers: { "Idempotency-Key": "k1" } });

    await expect(handler(event, context())).rejects.toMatchObject({ code: "FINGERPRINT_MISMATCH" });
    expect(states()).toEqual(["completed", "released"]);
  });

  it("throws an inner call's invalid key: the request's own key is in order", async () => {
    const { options, context } = given();
    const inner = { ...options, operation: "reserve-stock", leaseSeconds: 5 };
    const handler = httpIdempotent(() => runOnce(inner, "", {}, () => "never"), {
      ...options,
      scope: "public",
    });

    await expect(handler(v2Event({ headers: { "Idempotency-Key": "k1" } }), context())).rejects.toMatchObject(
      {
        code: "IDEMPOTENCY_KEY_INVALID",
      },
    );
  });

  it("H48: a client behind a 29 s gateway gets the first result of a 45 s handler, from one effect", async () => {
    const { options, clock, context } = given();
    let effects = 0;
    const handler = httpIdempotent(
      async () => {
        effects++;
        await clock.sleep(45_000);
        return { statusCode: 201, body: "order 1" };
      },
      { ...options, scope: "public", whenInProgress: { waitSeconds: 60 } },
    );
    const gateway = async (): Promise<Answer> => {
      const answer = handler(
        v2Event({ headers, startedAt: clock.now() }),
        context(60_000),
      ) as Promise<unknown>;
      const timeout = clock.sleep(29_000).then(() => ({ statusCode: 504, body: "" }));
      return (await Promise.race([answer, timeout])) as Answer;
    };
    const client = async () => {
      const statuses: number[] = [];
      for (let tries = 0; tries < 10; tries++) {
        const answer = await gateway();
        statuses.push(answer.statusCode);
        if (answer.statusCode < 400) return { statuses, body: answer.body };
      }
      return { statuses };
    };

    const outcome = await clock.run(client());

    expect(outcome).toEqual({ statuses: [504, 201], body: "order 1" });
    expect(effects).toBe(1);
  });

  it.each([
    ["the gateway's limit, less a second", v2Event, {}, 28_000],
    ["the gateway's limit on payload v1", v1Event, {}, 28_000],
    ["the time that the caller prefers", v2Event, { Prefer: "respond-async, wait=7" }, 7_000],
    ["the caller's other spelling of it", v2Event, { prefer: 'Wait = "3"' }, 3_000],
    ["the gateway's limit, where the caller prefers more", v2Event, { Prefer: "wait=300" }, 28_000],
    ["its own limit behind a function URL", functionUrlEvent, {}, 40_000],
  ])("waits for the winner no longer than %s", async (_, form, more, waitedMs) => {
    const { options, clock, context } = given();
    const handler = httpIdempotent(
      async () => {
        await clock.sleep(600_000);
        return { statusCode: 201, body: "" };
      },
      { ...options, scope: "public", whenInProgress: { waitSeconds: 40 } },
    );
    const send = (parts: RequestParts, remainingMs: number) =>
      handler(form({ ...parts, startedAt: clock.now() }), context(remainingMs)) as Promise<unknown>;

    void send({ headers }, 900_000);
    await clock.advance(1);
    const startedAt = clock.now();
    const answer = await clock.run(send({ headers: { ...headers, ...more } }, 900_000));

    expect(bodyOf(answer).status).toBe(409);
    expect(clock.now() - startedAt).toBe(waitedMs);
  });

  it("answers a waiting duplicate with the winner's result as soon as it exists", async () => {
    const { options, clock, context } = given();
    const handler = httpIdempotent(
      async () => {
        await clock.sleep(3000);
        return { statusCode: 201, body: "order 1" };
      },
      { ...options, scope: "public", whenInProgress: { waitSeconds: 20 } },
    );
    const send = () => handler(v2Event({ headers, startedAt: clock.now() }), context());

    const answers = await clock.run(Promise.all([send(), send(), send()]));

    expect(answers.map((answer) => (answer as unknown as Answer).body)).toEqual([
      "order 1",
      "order 1",
      "order 1",
    ]);
  });

  it.each([
    ["returns 201", 201, false, 201, 1],
    ["returns 404", 404, false, 404, 2],
    ["returns 500", 500, false, 500, 2],
    ["throws", 0, false, 0, 2],
    ["commits, returns 201", 201, true, 201, 1],
    ["commits, returns 404", 404, true, 201, 1],
    ["commits, returns 500", 500, true, 201, 1],
    ["commits, throws", 0, true, 201, 1],
  ])("H50: a handler that %s has at most one committed effect", async (_, status, commits, replay, runs) => {
    const { options, context, store } = given();
    let ran = 0;
    const handler = httpIdempotent(
      async (_event: unknown, { idempotency }) => {
        ran++;
        if (commits) {
          const writes = [
            {
              table: "orders",
              key: "1",
              item: (former?: object) => ({ count: former === undefined ? 1 : 2 }),
            },
          ];
          await idempotency.commit({ statusCode: 201, body: "" }, { writes });
        }
        if (status === 0) throw new Error("broken");
        return { statusCode: status, body: "" };
      },
      { ...options, scope: "public" },
    );
    const send = () =>
      handler(v2Event({ headers }), context()).then(
        ({ statusCode }) => statusCode,
        () => 0,
      );

    const answers = [await send(), await send()];

    expect(answers[1]).toBe(replay);
    expect(ran).toBe(runs);
    expect(store.table("orders").get("1")).toEqual(commits ? { count: 1 } : undefined);
  });
});

describeOnMiddies("httpIdempotency", (middy) => {
  it("H22: a caller whose right was revoked gets 403, not a replay", async () => {
    const { options, context } = given();
    const revoked = new Set<string>();
    const handler = middy<ReturnType<typeof v2Event>>()
      .before((request) => {
        if (revoked.has(callerFromAuthorizer("tenant")(request.event) ?? "")) return { statusCode: 403 };
      })
      .use(httpIdempotency({ ...options, scope: callerFromAuthorizer("tenant") }))
      .handler(async () => ({ statusCode: 201, body: "secret" }));
    const event = v2Event({ headers, authorizer: tenant("ann") });

    expect(await handler(event, context())).toMatchObject({ statusCode: 201 });
    revoked.add("ann");
    expect(await handler(event, context())).toEqual({ statusCode: 403 });
  });

  it("answers its own errors as problems, in every phase", async () => {
    const { options, clock, context } = given();
    const first = pausePoint();
    const onHost = (hostClock: typeof options.clock, handle: () => Promise<unknown>) =>
      middy()
        .use(httpIdempotency({ ...options, clock: hostClock, scope: "public", whenInProgress: "reject" }))
        .handler(handle);
    const event = v2Event({ headers });

    const loser = onHost(clock, async () => {
      await first.pause();
      return { statusCode: 201, body: "" };
    })(event, context());
    await first.reached;
    const busy = await onHost(clock, async () => "never")(event, context());
    const second = pausePoint();
    const winner = onHost(clock.skewed(60_000) as typeof clock, async () => {
      await second.pause();
      return { statusCode: 201, body: "" };
    })(event, context());
    await second.reached;
    first.resume();
    const lost = await loser;
    second.resume();

    expect(bodyOf(await onHost(clock, async () => "never")(v2Event(), context())).status).toBe(400);
    expect(bodyOf(busy)).toMatchObject({ status: 409, code: "EXECUTION_IN_PROGRESS" });
    expect(bodyOf(lost)).toMatchObject({ status: 409, code: "CLAIM_LOST" });
    expect((lost as Answer).headers).toMatchObject({ "Retry-After": "1" });
    expect(await winner).toEqual({ statusCode: 201, body: "" });
  });

  it("answers an error of a failing commit as a problem", async () => {
    const { options, context } = given();
    const handler = middy()
      .use(httpIdempotency({ ...options, scope: "public" }))
      .onError((request) => {
        request.response = { statusCode: 500, body: "who knows" };
      })
      .handler(async (_event: unknown, { idempotency }) =>
        idempotency.commit({ statusCode: 201, body: 1n as unknown as string }),
      );

    expect(bodyOf(await handler(v2Event({ headers }), context()))).toMatchObject({
      status: 500,
      code: "RESPONSE_NOT_STORABLE",
    });
  });

  it("lets other methods pass, without an execution", async () => {
    const { options, context, store } = given();
    const handler = middy()
      .use(httpIdempotency({ ...options, scope: "public", methods: ["PUT"] }))
      .handler(async (_event: unknown, { idempotency }) => ({
        statusCode: 200,
        body: idempotency.operation,
      }));

    await expect(handler(v2Event({ headers, method: "POST" }), context())).rejects.toMatchObject({
      code: "INVALID_OPTION",
      option: "methods",
    });
    expect(await handler(v2Event({ headers, method: "PUT" }), context())).toMatchObject({
      body: "create-order",
    });
    expect(store.records.size).toBe(1);
  });
});
