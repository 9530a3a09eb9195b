// A request has one fingerprint, through whichever door it comes.

import fc from "fast-check";
import { fingerprintFromHttp, type HttpRequestEvent, httpIdempotent } from "onceonly";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { fingerprintOf } from "../../../lib/core/fingerprint.ts";
import { hashTuple } from "../../../lib/core/identity.ts";
import { DynamoDBStore } from "../../../lib/dynamodb/dynamodb-store.ts";
import { httpFingerprint } from "../../../lib/lambda/http/fingerprint.ts";
import { connect, createTable } from "../../kit/tables.ts";
import { type Answer, bodyOf, given, pausePoint } from "../given.ts";
import { doorsTo, type Sent } from "./cases/doors.ts";

const ROUTE = "/orders/{id}/notes";
const doors = doorsTo(ROUTE);
/** All sources except the ALB, which passes on only the last value of a repeated name. */
const others = doors.filter(([name]) => name !== "ALB");

const headers = { "idempotency-key": '"k1"' };
const fingerprint = (event: object) => fingerprintOf(httpFingerprint(event));

/** What is on record from before: as releases up to 0.1.0 made it. */
function formerFingerprint(event: HttpRequestEvent): string {
  const raw = event as Record<string, never> & { requestContext?: { http?: { method: string } } };
  const query = raw.multiValueQueryStringParameters ?? raw.queryStringParameters ?? {};
  return hashTuple(
    (raw.requestContext?.http?.method ?? raw.httpMethod ?? "").toUpperCase(),
    raw.rawPath ?? raw.path ?? "",
    raw.rawQueryString ?? JSON.stringify(Object.entries(query).sort()),
    Buffer.from(raw.body ?? "", raw.isBase64Encoded ? "base64" : "utf8"),
  );
}

const text = fc.string({
  unit: fc.constantFrom("a", "B", "7", "ä", " ", "+", "%", "&", "=", "/", ",", "[", "🔑", ".", "~", "2F"),
  maxLength: 5,
});
const form = (part: string) => encodeURIComponent(part).replaceAll("%20", "+");
const pair = fc
  .tuple(text, text, fc.constantFrom(encodeURIComponent, form))
  .filter(([name]) => name !== "")
  .map(([name, value, encode]) => `${encode(name)}=${encode(value)}`);
const sent: fc.Arbitrary<Sent> = fc.record({
  method: fc.constantFrom("POST", "PATCH"),
  path: text.filter((id) => id !== "").map((id) => `/orders/${encodeURIComponent(id)}/notes`),
  query: fc
    .array(fc.oneof(pair, fc.constant("flag"), fc.constant("empty=")), { maxLength: 4 })
    .map((all) => all.join("&")),
  body: fc.constantFrom("", "{}", '{"text":"ä"}'),
});

describe("answers 15: the fingerprint of a request", () => {
  it.each([
    ["a plain path", { path: "/orders/7/notes", body: "{}" }],
    ["a query", { path: "/orders/7/notes", query: "b=2&a=1" }],
    ["a query in another order of names", { path: "/orders/7/notes", query: "a=1&b=2" }],
    ["a space", { path: "/orders/7/notes", query: "q=a%20b" }],
    ["a space as a plus sign", { path: "/orders/7/notes", query: "q=a+b" }],
    ["a plus sign", { path: "/orders/7/notes", query: "q=a%2Bb" }],
    ["a comma", { path: "/orders/7/notes", query: "q=a,b" }],
    ["an encoded comma and a slash", { path: "/orders/7/notes", query: "q=a%2Cb%2F" }],
    ["values that are empty", { path: "/orders/7/notes", query: "a=&b&c=1" }],
    ["what looks encoded and is not", { path: "/orders/7/notes", query: "q=%2541" }],
    ["a second question mark", { path: "/orders/7/notes", query: "?a=1" }],
    ["an equals sign in a value", { path: "/orders/7/notes", query: "q=a%3Db=c" }],
    ["a slash in the path's parameter", { path: "/orders/a%2Fb/notes" }],
    ["letters of other languages in the path", { path: "/orders/%C3%A4%20%F0%9F%94%91/notes" }],
    ["a percent sign in the path", { path: "/orders/100%25/notes" }],
    ["a percent sign in the path that looks like an encoding", { path: "/orders/%2541/notes" }],
    ["a body in base64", { path: "/orders/7/notes", body: "e30=", isBase64Encoded: true }],
    ["no body", { path: "/orders/7/notes" }],
  ])("is the same through every door: %s", (_, request) => {
    const made = doors.map(([name, open]) => [name, fingerprint(open(request))]);

    expect(made).toEqual(doors.map(([name]) => [name, made[0]?.[1]]));
  });

  it("is the same for a body as a string and in base64, for no query and an empty one, and for no body and an empty one", () => {
    const path = "/orders/7/notes";
    for (const [, open] of doors) {
      expect(fingerprint(open({ path, body: "{}" }))).toBe(
        fingerprint(open({ path, query: "", body: "e30=", isBase64Encoded: true })),
      );
      expect(fingerprint(open({ path }))).toBe(fingerprint(open({ path, body: "" })));
    }
  });

  it("keeps the order of one name's values, and both of them", () => {
    const path = "/orders/7/notes";
    const made = others.map(([, open]) =>
      ["a=1&a=2&b=3", "b=3&a=1&a=2", "a=2&a=1&b=3", "a=2&b=3", "a=1,2&b=3"].map((query) =>
        fingerprint(open({ path, query })),
      ),
    );

    for (const [one, sorted, ...rest] of made) {
      expect(sorted).toBe(one);
      expect(new Set([one, ...rest]).size).toBe(4);
      expect([one, sorted, ...rest]).toEqual(made[0]);
    }
  });

  it("is the same through every door, whatever is sent", () => {
    fc.assert(
      fc.property(sent, (request) => {
        const made = others.map(([name, open]) => [name, fingerprint(open(request))]);

        expect(made).toEqual(others.map(([name]) => [name, made[0]?.[1]]));
      }),
      { numRuns: 300 },
    );
  });

  it("distinguishes requests that differ in what a parser finds in them", () => {
    const found = ({ method, path, query, body }: Sent) => {
      const pairs = new URLSearchParams(`?${query}`);
      pairs.sort();
      return JSON.stringify([method, decodeURIComponent(path), [...pairs], body]);
    };
    fc.assert(
      fc.property(sent, sent, fc.constantFrom(...others), (one, other, [, open]) => {
        const isSame = found(one) === found(other);
        expect(fingerprint(open(one)) === fingerprint(open(other))).toBe(isSame);
      }),
      { numRuns: 500 },
    );
  });

  it("stays the same from release to release", () => {
    const [, open] = doorsTo("/orders/{id}")[0]!;
    const event = open({ path: "/orders/7", query: "b=x%20y&a=1&a=2", body: "{}" });

    expect(fingerprint(event)).toBe("2:x8UCUajGM8GDh-vXLbH94Fq-HqmCG3Q0so5Z6IrjppU");
  });

  it.each([
    ["a path that is not its route", { path: "/a", resource: "/b/{id}", pathParameters: { id: "1" } }, "/a"],
    ["a route whose places nobody fills", { path: "/a", resource: "/{proxy+}", pathParameters: null }, "/a"],
    ["a path with a stage alone", { rawPath: "/prod", version: "2.0" }, "/"],
    ["a path that begins like the stage", { rawPath: "/production/a", version: "2.0" }, "/production/a"],
    ["a path that is no text in UTF-8", { path: "/%ff%41" }, "/%ff%41"],
    ["no path", {}, ""],
  ])("uses %s as it is found", (_, given, path) => {
    const event = { httpMethod: "POST", requestContext: { stage: "prod" }, ...given };
    const same = { httpMethod: "POST", version: "2.0", path };

    expect(fingerprint(event)).toBe(fingerprint(same));
  });

  it("accepts a test event with a value of null, and one with only a host", () => {
    const event = { httpMethod: "POST", path: "/a", queryStringParameters: { a: null } };

    expect(fingerprint(event)).toBe(fingerprint({ ...event, queryStringParameters: { a: "" } }));
  });
});

describe("fingerprintFromHttp", () => {
  const [, rest] = doors[0]!;
  const [, onDomain] = doors[2]!;
  const request = { path: "/orders/7/notes", body: "{}" };
  const made = (event: object, options?: { withAddress?: boolean }) =>
    fingerprintOf(fingerprintFromHttp(options)(event as HttpRequestEvent));

  it("is the default of httpIdempotent, unless the address counts", () => {
    expect(made(rest(request))).toBe(fingerprint(rest(request)));
    expect(made(rest(request), { withAddress: false })).toBe(fingerprint(rest(request)));
    expect(made(rest(request), { withAddress: true })).not.toBe(fingerprint(rest(request)));
  });

  it("with the address, distinguishes hosts and base paths, in any case of letters", () => {
    const at = (domainName: string, prefix = "") => {
      const event = onDomain(request) as { path: string; requestContext: object };
      const requestContext = { ...event.requestContext, domainName };
      return made({ ...event, path: `${prefix}${request.path}`, requestContext }, { withAddress: true });
    };

    expect(at("A.example.com")).toBe(at("a.example.com"));
    expect(new Set([at("a.example.com"), at("b.example.com"), at("a.example.com", "/b")]).size).toBe(3);
  });

  it("with the address, reads ALB's host from the header", () => {
    const [, alb] = doors.at(-1)!;
    const at = (host: string) => made(alb({ ...request, headers: { Host: host } }), { withAddress: true });

    expect(at("a.example.com")).toBe(at("A.example.com"));
    expect(at("a.example.com")).not.toBe(at("b.example.com"));
  });

  it.each([[{ withHost: true }], [{ withAddress: "yes" }], [null]])("refuses %j", (options) => {
    expect(() => fingerprintFromHttp(options as never)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION" }),
    );
  });
});

describe.each(inject("dynamodbEngines"))("answers 15, on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let tableName: string;
  beforeAll(async () => {
    tableName = await createTable(client);
  });
  const service = (operation: string, more: object = {}) => {
    const { options, context } = given();
    const { clock: _, random: __, ...rest } = options;
    const effects: string[] = [];
    const handler = httpIdempotent(
      async (event) => {
        effects.push(`${event.body ?? ""}`);
        return { statusCode: 201, body: `note ${effects.length}` };
      },
      {
        ...rest,
        operation,
        store: new DynamoDBStore({ tableName, client }),
        leaseSeconds: 30,
        scope: "public",
        ...more,
      },
    );
    const send = async (event: object) =>
      (await handler(event as HttpRequestEvent, context())) as unknown as Answer;
    return { send, effects };
  };
  const request = { path: "/orders/a%2Fb/notes", query: "c=x%20y&a=1", body: "{}", headers };

  it("replays a request that comes again through the next door, each of them", async () => {
    for (const [index, [name, open]] of doors.entries()) {
      const [, openNext] = doors[(index + 1) % doors.length]!;
      const { send, effects } = service(`door ${index}`);

      const first = await send(open(request));
      const again = await send(openNext(request));
      const other = await send(openNext({ ...request, body: "[]" }));

      expect([name, first.body, again.body, effects]).toEqual([name, "note 1", "note 1", ["{}"]]);
      expect([name, other.statusCode]).toEqual([name, 422]);
    }
  });

  it("H47: replays records from before the deployment, and rejects another payload for them", async () => {
    for (const [index, [name, open]] of doors.entries()) {
      const before = service(`former ${index}`, { fingerprint: formerFingerprint });
      const after = service(`former ${index}`);

      await before.send(open(request));
      const again = await after.send(open(request));
      const other = await after.send(open({ ...request, body: "[]" }));

      expect([name, again.body, after.effects]).toEqual([name, "note 1", []]);
      expect([name, other.statusCode]).toEqual([name, 422]);
    }
  });

  it("H47: recognizes a record that a previous version wrote in between, though the handler has changed the event", async () => {
    const [, open] = doors[0]!;
    const before = service("overtaken", { fingerprint: formerFingerprint });
    const { options, context } = given();
    const { clock: _, random: __, ...rest } = options;
    const paused = pausePoint();
    const handler = httpIdempotent(
      async (event: HttpRequestEvent) => {
        await paused.pause();
        Object.assign(event, { body: { parsed: true }, path: "/", multiValueQueryStringParameters: {} });
        return { statusCode: 201, body: "of the loser" };
      },
      {
        ...rest,
        operation: "overtaken",
        store: new DynamoDBStore({ tableName, client }),
        mode: "optimistic",
        scope: "public",
      },
    );

    const answering = handler(open(request) as HttpRequestEvent, context());
    await paused.reached;
    await before.send(open(request));
    paused.resume();

    expect(await answering).toMatchObject({ statusCode: 201, body: "note 1" });
  });

  it("answers 422 at another tenant's host if the address counts, and replays if it does not", async () => {
    const [, open] = doors[2]!;
    const at = (domainName: string) => {
      const event = open(request) as { requestContext: object };
      return { ...event, requestContext: { ...event.requestContext, domainName } };
    };
    const counting = service("by address", { fingerprint: fingerprintFromHttp({ withAddress: true }) });
    const plain = service("any address");

    for (const { send } of [counting, plain]) await send(at("a.example.com"));

    expect((await counting.send(at("b.example.com"))).statusCode).toBe(422);
    expect((await counting.send(at("a.example.com"))).body).toBe("note 1");
    expect((await plain.send(at("b.example.com"))).body).toBe("note 1");
    expect(bodyOf(await counting.send(at("b.example.com"))).code).toBe("FINGERPRINT_MISMATCH");
  });
});
