// docs/guides/recipes.md shows the files of test/fixtures/recipes, and each of them has its effect once, whatever happens.
import { createHmac } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { join } from "node:path";
import { Writable } from "node:stream";
import type { NestInterceptorLike } from "onceonly/http";
import type { ExploreOptions, SimulatedTable } from "onceonly-explorer";
import { exactlyOnceMatchers, explore, Simulator } from "onceonly-explorer";
import { describe, expect, it, vi } from "vitest";
import { partsIn } from "../kit/generated.ts";
import { root } from "../kit/project.ts";
import { inTier } from "../setup/tier.ts";

const SECRET = "whsec_test";
vi.stubEnv("IDEMPOTENCY_TABLE", "idempotency");
vi.stubEnv("STRIPE_WEBHOOK_SECRET", `${SECRET},whsec_new`);
expect.extend(exactlyOnceMatchers);

const folder = "test/fixtures/recipes";
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** The recipes' own types are of a framework's events, which are whatever a test sends. */
type AnyHandler = (event: unknown, context: never) => Promise<unknown>;
type Recipe = Readonly<Record<string, unknown>>;
const recipe = (name: string): Promise<Recipe> => import(`../fixtures/recipes/${name}.ts`);
const handlerOf = async (name: string) => (await recipe(name)).handler as AnyHandler;

const byId = { partitionKey: "id" };
const post = (body: object, more: object = {}) => ({
  version: "2.0",
  rawPath: "/orders",
  headers: { "idempotency-key": "k1" },
  requestContext: { http: { method: "POST" }, authorizer: { jwt: { claims: { sub: "ann" } } }, ...more },
  body: JSON.stringify(body),
});

const PAGES = ["docs/guides/recipes.md", "docs/guides/webhooks.md"];

describe("docs/guides/recipes.md and webhooks.md", () => {
  it("shows each recipe", () => {
    const shown = PAGES.flatMap((page) => Object.keys(partsIn(read(page))));

    expect(shown.sort()).toEqual(
      readdirSync(join(root, folder), "utf8")
        .map((name) => `${folder}/${name}`)
        .sort(),
    );
  });
});

interface StripeDelivery {
  readonly secret?: string;
  readonly content?: object;
  readonly id?: string;
}

const stripeEvent = (
  pending = 1,
  {
    secret = SECRET,
    content = { type: "paid", data: { object: { id: "pi_1", amount: 500 } } },
    id = "evt_1",
  }: StripeDelivery = {},
) => ({
  ...{ version: "2.0", rawPath: "/stripe", requestContext: { http: { method: "POST" } }, secret },
  body: JSON.stringify({ id, ...content, pending_webhooks: pending }),
});

/** Each delivery is signed when it's made, as Stripe does. */
async function stripeHandler(): Promise<AnyHandler> {
  const handler = await handlerOf("stripe-webhook");
  return (event, context) => {
    const { secret, ...sent } = event as ReturnType<typeof stripeEvent>;
    const t = Math.floor(Date.now() / 1000);
    const signature = createHmac("sha256", secret).update(`${t}.${sent.body}`).digest("hex");
    return handler({ ...sent, headers: { "stripe-signature": `t=${t},v1=${signature}` } }, context);
  };
}

/** A database behind HTTP, since the explorer sees requests: a row under a known id is not written again. */
async function insert(id: string, row: object): Promise<void> {
  const headers = { "Idempotency-Key": id };
  const body = JSON.stringify(row);
  const answer = await fetch("https://database.example/rows", { method: "POST", headers, body });
  if (!answer.ok) throw new Error("the database is busy");
}
const outside = {
  "https://database.example": () => Response.json({}),
  "https://catalogue.example": () => Response.json({}),
  "https://payments.example": () => Response.json({ id: "c1" }),
  "https://states.example": () => Response.json({}),
};

const payInvoice = async (name: string, database: object) =>
  ((await recipe(name)).payInvoice as (database: object) => AnyHandler)(database);

async function honoHandler(): Promise<AnyHandler> {
  const routes = new Map<string, (c: object) => Promise<Response>>();
  const app = { post: (path: string, route: never) => routes.set(path, route) };
  const handle = () => async (event: { body: string; rawPath: string }, lambdaContext: object) => {
    const json = (body: object, status: number) => Response.json(body, { status });
    const c = { req: { json: async () => JSON.parse(event.body) }, env: { lambdaContext }, json };
    const answer = await routes.get(event.rawPath)!(c);
    return { statusCode: answer.status, body: await answer.text() };
  };
  return ((await recipe("hono")).orders as (app: object, handle: unknown) => AnyHandler)(app, handle);
}

/** A request of a server that has parsed its body and verified its caller, and the response with the answer as it leaves. */
function serverRequest(event: unknown) {
  const { body, headers } = event as { body: string; headers: object };
  const req = Object.assign(new IncomingMessage(new Socket()), {
    ...{ method: "POST", url: "/orders", headers, rawBody: Buffer.from(body), body: JSON.parse(body) },
    user: { id: "ann" },
  });
  const res = new ServerResponse(req);
  const answered = new Promise<object>((resolve) => {
    const end = (sent: unknown = "") => {
      resolve({ statusCode: res.statusCode, headers: { ...res.getHeaders() }, body: `${sent}` });
      return res;
    };
    Object.assign(res, { end });
  });
  const send = (status: number) => (sent: object) => {
    res.statusCode = status;
    res.end(JSON.stringify(sent));
  };
  return { req, res: Object.assign(res, { status: (status: number) => ({ json: send(status) }) }), answered };
}

/** As Express calls the middleware and the route. */
async function expressHandler(): Promise<AnyHandler> {
  const { createOrderOnce, createOrder } = (await recipe("express")) as Record<
    string,
    (...given: unknown[]) => unknown
  >;
  return async (event) => {
    const { req, res, answered } = serverRequest(event);
    const failed = new Promise<never>((_, reject) => {
      createOrderOnce!(req, res, async (error?: unknown) => {
        if (error) reject(error);
        else
          try {
            await createOrder!(req, res);
          } catch {
            res.status(500).json({});
          }
      });
    });
    return Promise.race([answered, failed]);
  };
}

/** As Nest calls the interceptor, the method and what sends its value. */
async function nestHandler(): Promise<AnyHandler> {
  const { createOrderOnce, Orders } = (await recipe("nest")) as {
    createOrderOnce: NestInterceptorLike;
    Orders: new () => { create(request: object): Promise<object> };
  };
  const orders = new Orders();
  return async (event) => {
    const { req, res, answered } = serverRequest(event);
    const http = { getRequest: () => req, getResponse: () => res };
    const context = { getType: () => "http", switchToHttp: () => http };
    createOrderOnce.intercept(context, { handle: () => orders.create(req) }).then(
      (value) => res.status(201).json(value),
      () => res.status(500).json({}),
    );
    return answered;
  };
}

/** The method with the arguments of one call. */
async function decoratorHandler(): Promise<AnyHandler> {
  const { Payments } = (await recipe("decorator")) as { Payments: new () => { charge: AnyHandler } };
  const payments = new Payments();
  return (event) => (payments.charge as (order: unknown) => Promise<unknown>).call(payments, event);
}

async function streamingHandler(): Promise<AnyHandler> {
  vi.stubGlobal("awslambda", { streamifyResponse: (handler: unknown) => handler });
  const handler = (await handlerOf("streaming")) as unknown as (...given: unknown[]) => Promise<void>;
  return async (event, context) => {
    let text = "";
    const stream = new Writable({
      write(chunk, _, done) {
        text += chunk;
        done();
      },
    });
    await handler(event, stream, context);
    return text;
  };
}

/** Step Functions: the first answer to a token closes its task. Requests go over HTTP, where the explorer sees them. */
async function taskTokenHandler(): Promise<AnyHandler> {
  const answer = (kind: string) => async (input: { taskToken: string }) => {
    const headers = { "Idempotency-Key": input.taskToken };
    const body = JSON.stringify({ kind, ...input });
    const { status } = await fetch("https://states.example", { method: "POST", headers, body });
    if (status === 400) throw Object.assign(new Error("closed"), { name: "TaskTimedOut" });
    if (status !== 200) throw new Error("Step Functions is busy");
  };
  const client = { sendTaskSuccess: answer("success"), sendTaskFailure: answer("failure") };
  return ((await recipe("task-token")).chargeOrders as (client: object) => AnyHandler)(client);
}

const taskMessage = (messageId: string, token: string, order: object = { id: "o1", cents: 500 }) => ({
  messageId,
  eventSource: "aws:sqs",
  eventSourceARN: "arn:aws:sqs:eu-central-1:123456789012:charges",
  attributes: {},
  messageAttributes: {},
  body: JSON.stringify({ token, machine: "m1", execution: "e1", state: "Charge", order }),
});

const webSocketMessage = (connectionId: string) => ({
  requestContext: {
    ...{ apiId: "a1", stage: "prod", eventType: "MESSAGE", routeKey: "createOrder", connectionId },
    ...{ requestId: `of ${connectionId}`, authorizer: { userId: "ann" } },
  },
  body: JSON.stringify({ action: "createOrder", requestId: "r1", sku: "tea" }),
});

const confirmed = {
  ...{ userPoolId: "p1", userName: "ann", triggerSource: "PostConfirmation_ConfirmSignUp" },
  request: { userAttributes: { sub: "5b1c", email: "ann@example.com" }, clientMetadata: { code: "s3cret" } },
  response: {},
};

type Explored = readonly [
  title: string,
  handler: () => Promise<AnyHandler>,
  event: object,
  options: ExploreOptions,
];

const appsync = {
  arguments: { input: { requestId: "r1", sku: "tea" } },
  identity: { sub: "ann" },
  request: { headers: {} },
};
const invoice = { invoice: "i1", cents: 500 };
const explored: readonly Explored[] = [
  ["stripe-webhook", stripeHandler, stripeEvent(), { tables: { payments: byId } }],
  ["hono", honoHandler, post({ sku: "tea" }), { tables: { orders: byId } }],
  ["express", expressHandler, post({ sku: "tea" }), { tables: { orders: byId } }],
  ["nest", nestHandler, post({ sku: "tea" }), { tables: { orders: byId } }],
  ["appsync", () => handlerOf("appsync"), appsync, { tables: { orders: byId } }],
  [
    "step-functions",
    () => handlerOf("step-functions"),
    { machine: "m1", execution: "e1", state: "Charge", order: { id: "o1", cents: 500 } },
    { outside },
  ],
  [
    "sql",
    () => payInvoice("sql", { query: (_: string, [id, ...row]: [string, ...unknown[]]) => insert(id, row) }),
    invoice,
    { outside },
  ],
  [
    "prisma",
    () =>
      payInvoice("prisma", {
        payment: {
          upsert: async ({ create }: { create: { id: string } }) => {
            await insert(create.id, create);
            return create;
          },
        },
      }),
    invoice,
    { outside },
  ],
  ["streaming", streamingHandler, { reportId: "r1", lines: ["b", "a"] }, { tables: { reports: byId } }],
  [
    "tenants",
    () => handlerOf("tenants"),
    post({ sku: "tea" }, { authorizer: { lambda: { tenant: "acme" } } }),
    { tables: { orders: { partitionKey: "tenant", sortKey: "id" } } },
  ],
  ["decorator", decoratorHandler, { id: "o1", cents: 500 }, { outside }],
  ["replayed", () => handlerOf("replayed"), { id: "o1", sku: "tea" }, { tables: { orders: byId } }],
  ["task-token", taskTokenHandler, { Records: [taskMessage("m1", "t1")] }, { outside }],
  ["websocket", () => handlerOf("websocket"), webSocketMessage("c1"), { tables: { orders: byId } }],
  ["cognito", () => handlerOf("cognito"), confirmed, { tables: { profiles: byId } }],
  [
    "iot-rule",
    () => handlerOf("iot-rule"),
    { requestId: "f1", litres: 5, device: "tank-7" },
    { tables: { fillings: byId } },
  ],
  ["lock", () => handlerOf("lock"), { shop: "ann", revision: 3 }, { outside }],
  [
    "scheduled-job",
    () => handlerOf("scheduled-job"),
    { id: "1", time: "2026-03-31T23:59:00Z" },
    { source: "schedule", tables: { statements: byId } },
  ],
];

describe("a recipe", () => {
  it("is explored for each file", () => {
    expect(explored.map(([name]) => `${name}.ts`).sort()).toEqual(readdirSync(join(root, folder)).sort());
  });

  it.each(explored)("has its effect once, whatever happens: %s", async (name, handler, event, options) => {
    const report = await explore((await handler()) as never, event, {
      name,
      idempotencyTable: "idempotency",
      maxRuns: inTier(12, 2000),
      ...options,
    });

    expect(report).toBeExactlyOnce();
    expect(report.points.length).toBeGreaterThan(1);
  });
});

/** The values that a handler returned, one event after the other, and the items it left in the table. */
async function simulated(
  handler: AnyHandler,
  table: string,
  keys: SimulatedTable,
  events: readonly object[],
) {
  const aws = new Simulator();
  aws.table("idempotency", { partitionKey: "pk" });
  aws.table(table, keys);
  const fn = aws.lambda(handler as never);
  const answers = await aws.run(async () => {
    const values: unknown[] = [];
    for (const event of events) {
      const invocation = await fn.invoke(event);
      values.push(invocation.outcome === "returned" ? invocation.value : invocation);
    }
    return values;
  });
  const { Items = [] } = await aws.dynamodb.call("Scan", { TableName: table });
  return { answers, items: Items as readonly { readonly tenant?: { readonly S: string } }[] };
}

describe("the Stripe recipe", () => {
  const deliver = async (...events: readonly object[]) =>
    simulated(await stripeHandler(), "payments", byId, events);

  it("H88: A7: replays a retry with another body and signature, also by a rolled secret, and refuses a forged one", async () => {
    const { answers, items } = await deliver(
      stripeEvent(2),
      stripeEvent(1, { secret: "whsec_new" }),
      stripeEvent(1, { secret: "another" }),
      stripeEvent(1, { secret: "" }),
    );

    expect(answers).toMatchObject([
      { statusCode: 200 },
      { statusCode: 200, headers: { "Idempotent-Replayed": "true" } },
      { statusCode: 401 },
      { statusCode: 401 },
    ]);
    expect(items).toHaveLength(1);
  });

  it.each([
    ["a thin event", { id: "pi_1" }, 1],
    ["a thin event that names no object", null, 0],
  ])("H88: A7: accepts %s, and runs once for its retries", async (_, related_object, rows) => {
    const content = { object: "v2.core.event", type: "v1.paid", related_object };

    const { answers, items } = await deliver(stripeEvent(2, { content }), stripeEvent(1, { content }));

    expect(answers).toMatchObject([{ statusCode: 200 }, { headers: { "Idempotent-Replayed": "true" } }]);
    expect(items).toHaveLength(rows);
  });

  it("H88: A7: two events of one change leave one row", async () => {
    const { answers, items } = await deliver(stripeEvent(1), stripeEvent(1, { id: "evt_2" }));

    expect(answers).toMatchObject([{ statusCode: 200 }, { statusCode: 200 }]);
    expect(items).toHaveLength(1);
  });
});

describe("the recipe of a scheduled job", () => {
  const ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Apia"];
  const DAY_MS = 86_400_000;

  /** At 01:30 a run is on another day in UTC in winter than in summer, in Berlin. */
  const TIMES = inTier<readonly (readonly [hour: number, minute: number])[]>(
    [[1, 30]],
    [
      [0, 30],
      [1, 30],
      [23, 0],
    ],
  );

  /** When a clock in a zone shows this time on each day of a year: in UTC, as EventBridge Scheduler says it. */
  function runsOf(zone: string, hour: number, minute: number): string[] {
    const format = new Intl.DateTimeFormat("sv-SE", {
      timeZone: zone,
      dateStyle: "short",
      timeStyle: "short",
    });
    const runs: string[] = [];
    for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2027, 0, 1); at += DAY_MS) {
      const day = new Date(at).toISOString().slice(0, 10);
      const wanted = `${day} ${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
      for (let ms = at - DAY_MS; ms < at + 2 * DAY_MS; ms += 1_800_000) {
        if (format.format(ms) !== wanted) continue;
        runs.push(new Date(ms).toISOString());
        break;
      }
    }
    return runs;
  }

  it.each(ZONES)(
    "H88: A7: has one run for each day of a year in %s, whatever the clocks do",
    async (zone) => {
      vi.stubEnv("SCHEDULE_TIME_ZONE", zone);
      vi.resetModules();
      const handler = await handlerOf("scheduled-job");
      for (const [hour, minute] of TIMES) {
        const runs = runsOf(zone, hour, minute);
        const events = runs.flatMap((time) => [{ time }, { time }]);

        const { items } = await simulated(handler, "statements", byId, events);

        expect(runs.length).toBeGreaterThan(360);
        expect(items).toHaveLength(runs.length);
      }
      vi.unstubAllEnvs();
      vi.stubEnv("IDEMPOTENCY_TABLE", "idempotency");
    },
  );
});

describe("the recipe of Step Functions", () => {
  const charge = { machine: "m1", execution: "e1", state: "Charge", order: { id: "o1", cents: 500 } };
  const charged = async (answer: object, ...events: readonly object[]) => {
    const aws = new Simulator();
    aws.table("idempotency", { partitionKey: "pk" });
    let calls = 0;
    aws.serve("https://payments.example", () => {
      calls++;
      return Response.json(answer);
    });
    const fn = aws.lambda((await handlerOf("step-functions")) as never);
    const outcomes = await aws.run(async () => {
      const ends: string[] = [];
      for (const event of events) ends.push((await fn.invoke(event)).outcome);
      return ends;
    });
    return { calls, outcomes };
  };

  it("H88: A7: a retry with a new task token gets the first answer", async () => {
    const { calls, outcomes } = await charged(
      { id: "c1" },
      { ...charge, token: "t1" },
      { ...charge, token: "t2" },
    );

    expect(outcomes).toEqual(["returned", "returned"]);
    expect(calls).toBe(1);
  });

  it("H88: A7: an answer of 200 that carries an error is not recorded as the result", async () => {
    const { calls, outcomes } = await charged({ error: "card_declined" }, charge, charge);

    expect(outcomes).not.toContain("returned");
    expect(calls).toBe(2);
  });

  it("H88: A7: a redriven execution gets the answer of the first, by its own name", async () => {
    const redriven = { ...charge, redriveCount: 1, redriveTime: "2026-11-27T12:00:00Z" };
    const { calls, outcomes } = await charged({ id: "c1" }, charge, redriven);

    expect(outcomes).toEqual(["returned", "returned"]);
    expect(calls).toBe(1);
  });

  it("H88: A7: two machines with an execution of one name charge each for itself", async () => {
    const { calls } = await charged({ id: "c1" }, charge, { ...charge, machine: "m2" });

    expect(calls).toBe(2);
  });
});

describe("the recipe of task tokens", () => {
  /** Step Functions' side: which tokens are open, and the answers that it accepted and refused. */
  const worked = async (
    status: number,
    open: readonly string[],
    ...batches: readonly (readonly object[])[]
  ) => {
    const aws = new Simulator();
    aws.table("idempotency", { partitionKey: "pk" });
    const waiting = new Set(open);
    const seen = { charges: 0, accepted: [] as string[], refused: [] as string[] };
    aws.serve("https://payments.example", () => {
      seen.charges++;
      return Response.json({ id: "c1" }, { status });
    });
    aws.serve("https://states.example", async (request: Request) => {
      const { taskToken, kind, output = "" } = (await request.json()) as Record<string, string>;
      const isOpen = waiting.delete(taskToken!);
      seen[isOpen ? "accepted" : "refused"].push(`${taskToken} ${kind} ${output}`.trim());
      return Response.json({}, { status: isOpen ? 200 : 400 });
    });
    const fn = aws.lambda((await taskTokenHandler()) as never);
    await aws.run(async () => {
      for (const Records of batches) await fn.invoke({ Records });
    });
    return seen;
  };
  const success = (token: string) => `${token} success {"charged":"o1"}`;

  it("R5: charges once, and answers the token of each retry once", async () => {
    const seen = await worked(
      200,
      ["t1", "t2"],
      [taskMessage("m1", "t1")],
      [taskMessage("m1", "t1"), taskMessage("m2", "t2")],
      [taskMessage("m3", "t2")],
    );

    expect(seen).toEqual({ charges: 1, accepted: [success("t1"), success("t2")], refused: [] });
  });

  it("R5: a token whose state has timed out is done, and the next one gets its answer", async () => {
    const seen = await worked(
      200,
      ["t2"],
      [taskMessage("m1", "t1")],
      [taskMessage("m1", "t1")],
      [taskMessage("m2", "t2")],
    );

    expect(seen).toEqual({ charges: 1, accepted: [success("t2")], refused: [success("t1")] });
  });

  it("R5: a refusal that no retry helps answers each token with the failure", async () => {
    const seen = await worked(402, ["t1", "t2"], [taskMessage("m1", "t1")], [taskMessage("m2", "t2")]);

    expect(seen).toEqual({ charges: 1, accepted: ["t1 failure", "t2 failure"], refused: [] });
  });
});

describe("the recipe of a Cognito trigger", () => {
  it("R5: returns the event for other sources without a record", async () => {
    const reset = { ...confirmed, triggerSource: "PostConfirmation_ConfirmForgotPassword" };
    const { answers, items } = await simulated(await handlerOf("cognito"), "profiles", byId, [
      confirmed,
      reset,
    ]);

    expect(answers).toEqual([confirmed, reset]);
    expect(items).toHaveLength(1);
  });
});

describe("H88: A7: a retry whose source sends new tokens, ids and times", () => {
  it.each([
    [
      "appsync",
      "orders",
      appsync,
      {
        ...appsync,
        identity: { sub: "ann", sourceIp: ["192.0.2.2"], claims: { iat: 2 } },
        request: { headers: { authorization: "another token", "x-amzn-trace-id": "Root=2" } },
        info: { fieldName: "createOrder" },
      },
    ],
    [
      "scheduled-job",
      "statements",
      { id: "1", time: "2026-03-31T23:59:00Z", attempt: "1" },
      { id: "2", time: "2026-03-31T23:59:00Z", attempt: "2", resources: ["another rule"] },
    ],
    [
      "tenants",
      "orders",
      post({ sku: "tea" }, { authorizer: { lambda: { tenant: "acme" } }, requestId: "r1", timeEpoch: 1 }),
      {
        ...post({ sku: "tea" }, { authorizer: { lambda: { tenant: "acme", jti: "2" } }, requestId: "r2" }),
        headers: { "Idempotency-Key": "k1", authorization: "another token" },
      },
    ],
    ["websocket", "orders", webSocketMessage("c1"), webSocketMessage("c2")],
  ])("gets the first answer in the recipe %s", async (name, table, first, again) => {
    const keys = name === "tenants" ? { partitionKey: "tenant", sortKey: "id" } : byId;
    const { answers, items } = await simulated(await handlerOf(name), table, keys, [first, again]);

    const [one, other] = answers.map((answer) => (answer as { body?: string }).body ?? answer);
    expect(other).toEqual(one);
    expect(items).toHaveLength(1);
  });
});

describe("H88: A7: an answer of 200 that carries an error", () => {
  it.each([
    ["decorator", decoratorHandler, "https://payments.example", { id: "o1", cents: 500 }],
    ["lock", () => handlerOf("lock"), "https://catalogue.example", { shop: "ann", revision: 3 }],
  ] as const)("is no result in the recipe %s, and a retry asks again", async (_, handler, url, event) => {
    const aws = new Simulator();
    aws.table("idempotency", { partitionKey: "pk" });
    let calls = 0;
    aws.serve(url, () => Response.json(++calls === 1 ? { error: "declined" } : {}));
    const fn = aws.lambda((await handler()) as never);

    const outcomes = await aws.run(async () => [
      (await fn.invoke(event)).outcome,
      (await fn.invoke(event)).outcome,
    ]);

    expect(outcomes[0]).not.toBe("returned");
    expect(outcomes[1]).toBe("returned");
    expect(calls).toBe(2);
  });
});

describe("the recipe of a replayed answer", () => {
  it("distinguishes the first run from its replays", async () => {
    const info = vi.spyOn(console, "info").mockImplementation(() => {});
    const events = [1, 2].map(() => ({ id: "o1", sku: "tea" }));

    const { answers } = await simulated(await handlerOf("replayed"), "orders", byId, events);

    expect(answers).toEqual([{ id: "o1" }, { id: "o1" }]);
    expect(info.mock.calls).toEqual([["a new order"]]);
    info.mockRestore();
  });
});

describe("the recipe of several tenants", () => {
  it("makes an order for each of two tenants who use one key", async () => {
    const from = (tenant: string) => post({ sku: "tea" }, { authorizer: { lambda: { tenant } } });
    const keys = { partitionKey: "tenant", sortKey: "id" };
    const events = ["acme", "globex", "acme"].map(from);

    const { items } = await simulated(await handlerOf("tenants"), "orders", keys, events);

    expect(items.map(({ tenant }) => tenant?.S).sort()).toEqual(["acme", "globex"]);
  });
});
