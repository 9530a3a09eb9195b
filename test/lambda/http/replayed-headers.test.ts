// What a replay repeats of the first answer's headers: docs/reference/http.md has the table.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { httpIdempotent } from "onceonly";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { DynamoDBStore } from "../../../lib/dynamodb/dynamodb-store.ts";
import { NOT_REPLAYED } from "../../../lib/lambda/http/replayed-headers.ts";
import { root } from "../../kit/project.ts";
import { connect, createTable } from "../../kit/tables.ts";
import { type Answer, given } from "../given.ts";
import { EVENT_FORMS, v1Event, v2Event } from "./given.ts";

const KEY = { "Idempotency-Key": '"k1"' };
const MARK = "Idempotent-Replayed";

/** `*` stands for any end: such a name, in the letters that people use. */
const spelled = (name: string) =>
  name.replace("*", "something").replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());

const DROPPED = Object.values(NOT_REPLAYED)
  .join(" ")
  .split(" ")
  .map((name, index) => [spelled(name), `canary-${index}`] as const);

const KEPT = {
  "Content-Type": "application/json",
  "Cache-Control": "no-store",
  ETag: '"1"',
  Location: "/orders/1",
  Link: "</next>",
  "Retry-After": "5",
  Vary: "Origin",
  "X-Total": "7",
  // They only look like those that are left out.
  "X-Proxy-For": "a",
  Update: "b",
  "X-Request-Identity": "c",
};

const listed = (headers: object) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));

/** Answers `response` first, and then again. */
function service(response: object) {
  const { options, context } = given();
  const answer = { statusCode: 201, body: "order 1", ...response };
  const handler = httpIdempotent(async () => answer, { ...options, scope: "public" });
  return async (event: object) => (await handler(event, context())) as unknown as Answer;
}

describe("docs/reference/http.md", () => {
  it("lists every header that a replay leaves out, next to its reason, and no other", () => {
    const page = readFileSync(join(root, "docs/reference/http.md"), "utf8");

    const [, table = ""] = page.split("\n| belong to the | headers |\n|---|---|\n");
    const rows = table.split("\n\n")[0]!.split("\n");

    const documented = rows.map((row) => {
      const [, about, cell = ""] = row.split("|").map((each) => each.trim());
      // `cookies` is a field of the response, and no header.
      const names = [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
      return [about?.split(/[ ,]/)[0], names.filter((name) => name !== "cookies").join(" ")];
    });
    expect(documented).toEqual(Object.entries(NOT_REPLAYED));
  });
});

describe.each(inject("dynamodbEngines"))("answers 18, on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let tableName: string;
  beforeAll(async () => {
    tableName = await createTable(client);
  });

  it.each(EVENT_FORMS)(
    "H38: with %s the first caller gets every header, and those meant only for it are neither stored nor replayed",
    async (name, form) => {
      const { options, context } = given();
      const { clock: _, random: __, ...rest } = options;
      const headers = { ...KEPT, ...Object.fromEntries(DROPPED) };
      const first = {
        statusCode: 201,
        headers,
        multiValueHeaders: listed(headers),
        cookies: ["canary=1"],
        body: "order 1",
      };
      const handler = httpIdempotent(async () => first, {
        ...rest,
        operation: name,
        store: new DynamoDBStore({ tableName, client }),
        leaseSeconds: 30,
        scope: "public",
      });
      const send = async () => (await handler(form({ headers: KEY }), context())) as unknown as Answer;

      expect(await send()).toEqual(first);
      const replay = await send();

      const [one, lists] = [{ ...replay.headers }, { ...replay.multiValueHeaders }];
      expect([one[MARK], lists[MARK]].flat()).toContain("true");
      delete one[MARK];
      delete lists[MARK];
      expect([one, lists]).toEqual([KEPT, listed(KEPT)]);
      const { Items } = await client.send(new ScanCommand({ TableName: tableName }));
      expect(JSON.stringify(Items)).not.toContain("canary");
    },
  );

  it.each([
    [201, { Location: "/orders/1" }],
    [202, { "Retry-After": "5" }],
    [303, { Location: "/orders/1" }],
  ])("answers 22: a %i stays what it was, and its handler runs once", async (statusCode, headers) => {
    const { options, context } = given();
    const { clock: _, random: __, ...rest } = options;
    let effects = 0;
    const handler = httpIdempotent(async () => ({ statusCode, headers, body: `order ${++effects}` }), {
      ...rest,
      operation: `status ${statusCode}`,
      store: new DynamoDBStore({ tableName, client }),
      leaseSeconds: 30,
      scope: "public",
    });
    const send = async () => (await handler(v2Event({ headers: KEY }), context())) as unknown as Answer;

    const first = await send();

    expect(first).toEqual({ statusCode, headers, body: "order 1" });
    expect(await send()).toEqual({ ...first, headers: { ...headers, [MARK]: "true" } });
  });
});

it("a replay leaves out what an older version has stored about the first caller", async () => {
  const { options, context, store } = given();
  const settleAsBefore = (settlement: Parameters<typeof store.settle>[0]) => {
    const stored = { statusCode: 201, headers: { "X-Request-Id": "1", Location: "/orders/1" }, body: "" };
    return store.settle({ ...settlement, result: JSON.stringify(stored) });
  };
  const older = new Proxy(store, {
    get(target, name) {
      const value = name === "settle" ? settleAsBefore : Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const answer = async () => ({ statusCode: 201, body: "" });
  await httpIdempotent(answer, { ...options, store: older, scope: "public" })(
    v2Event({ headers: KEY }),
    context(),
  );

  const replay = await httpIdempotent(answer, { ...options, scope: "public" })(
    v2Event({ headers: KEY }),
    context(),
  );

  expect(replay).toMatchObject({ headers: { Location: "/orders/1", [MARK]: "true" } });
  expect(replay).not.toHaveProperty("headers.X-Request-Id");
});

describe("answers 18: CORS on a replay", () => {
  const A = "https://a.example.com";
  const cors = (origin: string) => ({
    "Access-Control-Allow-Origin": origin,
    "access-control-allow-credentials": "true",
    "Access-Control-Expose-Headers": "X-Total",
    "X-Total": "7",
  });
  const from = (origin?: string) => ({
    headers: { ...KEY, ...(origin !== undefined && { Origin: origin }) },
  });

  it.each([
    ["any origin", "*", "https://b.example.com", true],
    ["any origin, to a caller without one", "*", undefined, true],
    ["one origin, to itself", A, A, true],
    ["one origin, to another", A, "https://b.example.com", false],
    ["one origin, to one that begins like it", A, `${A}.evil.example`, false],
    ["one origin, to a caller without one", A, undefined, false],
    ["the origin of a file, to itself", "null", "null", true],
    ["the origin of a file, to another", "null", A, false],
  ])("of %s", async (_, allowed, origin, isReplayed) => {
    for (const form of [v1Event, v2Event]) {
      for (const response of [{ headers: cors(allowed) }, { multiValueHeaders: listed(cors(allowed)) }]) {
        const send = service(response);
        await send(form(from(A)));

        const { headers, multiValueHeaders } = await send(form(from(origin)));

        const names = Object.keys({ ...headers, ...multiValueHeaders });
        expect(names.filter((name) => /^access-control/i.test(name))).toHaveLength(isReplayed ? 3 : 0);
        expect(names).toContain("X-Total");
      }
    }
  });

  it("keeps CORS headers other than the origin, if an outer middleware sets that", async () => {
    const { "Access-Control-Allow-Origin": _, ...others } = cors("*");
    const send = service({ headers: others });
    await send(v2Event(from(A)));

    expect((await send(v2Event(from("https://b.example.com")))).headers).toMatchObject(others);
  });
});

describe("a replay through another service than the first answer", () => {
  const forms: Readonly<Record<string, (typeof EVENT_FORMS)[number][1]>> = Object.fromEntries(EVENT_FORMS);
  const HEADERS = { "Content-Type": "text/plain", Location: "/orders/1" };
  const LISTS = { "Content-Type": ["text/plain"], Link: ["</a>", "</b>"] };
  const LINES = { "Content-Type": "text/plain", Link: "</a>, </b>" };
  const MULTI = "ALB with multi-value headers";

  it.each([
    [
      "API Gateway v2",
      { headers: HEADERS },
      MULTI,
      { multiValueHeaders: listed({ ...HEADERS, [MARK]: "true" }) },
    ],
    ["ALB", { headers: HEADERS }, MULTI, { multiValueHeaders: listed({ ...HEADERS, [MARK]: "true" }) }],
    [MULTI, { multiValueHeaders: LISTS }, "API Gateway v2", { headers: { ...LINES, [MARK]: "true" } }],
    [MULTI, { multiValueHeaders: LISTS }, "function URL", { headers: { ...LINES, [MARK]: "true" } }],
    [MULTI, { multiValueHeaders: LISTS }, "ALB", { headers: { ...LINES, [MARK]: "true" } }],
    [
      MULTI,
      { multiValueHeaders: LISTS },
      "API Gateway v1",
      { headers: { [MARK]: "true" }, multiValueHeaders: LISTS },
    ],
    ["API Gateway v1", { headers: HEADERS }, "API Gateway v2", { headers: { ...HEADERS, [MARK]: "true" } }],
    [MULTI, {}, "API Gateway v2", { headers: { [MARK]: "true" } }],
    ["API Gateway v2", {}, MULTI, { multiValueHeaders: { [MARK]: ["true"] } }],
  ])("from %s with %j to %s", async (first, response, then, replay) => {
    const send = service(response);
    await send(forms[first]!({ headers: KEY }));

    expect(await send(forms[then]!({ headers: KEY }))).toEqual({
      statusCode: 201,
      body: "order 1",
      ...response,
      ...replay,
    });
  });
});
