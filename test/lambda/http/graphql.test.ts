// GraphQL over HTTP with the real graphql: only mutations claim, and answers with errors are not kept.
import { gzipSync } from "node:zlib";
import { buildSchema, graphql } from "graphql";
import { graphqlOverHttp, httpIdempotent } from "onceonly";
import { describe, expect, it } from "vitest";
import { type Answer, given } from "../given.ts";
import { v2Event } from "./given.ts";

const schema = buildSchema(
  "type Query { a: String } type Mutation { buy(sku: String!): String rate: String }",
);

const jsonEvent = (body: string, headers: Readonly<Record<string, string>> = {}) =>
  v2Event({ body, headers: { "Content-Type": "application/json; charset=utf-8", ...headers } });

interface Sent {
  readonly query?: string;
  readonly operationName?: string;
}

function service(commits = false) {
  const { options, context, decisions } = given();
  const bought: string[] = [];
  let isSoldOut = false;
  const handler = httpIdempotent(
    async ({ body }: { body?: string | null }, { idempotency }) => {
      const { query = "", operationName } = JSON.parse(body ?? "{}") as Sent;
      const buy = ({ sku }: { sku: string }) => {
        bought.push(sku);
        if (isSoldOut) throw new Error("sold out");
        return sku;
      };
      const rate = () => {
        throw new Error("not rated");
      };
      const result = await graphql({
        schema,
        source: query,
        operationName,
        rootValue: { a: () => "A", buy, rate },
      });
      const response = { statusCode: 200, body: JSON.stringify(result) };
      return commits ? idempotency.commit(response, { writes: [] }) : response;
    },
    { ...options, scope: "public", ...graphqlOverHttp },
  );
  const send = (sent: unknown, key?: string, more: object = {}) =>
    handler(
      { ...jsonEvent(JSON.stringify(sent), key ? { "idempotency-key": key } : {}), ...more },
      context(),
    ) as Promise<Answer>;
  const sellOut = (isOver: boolean) => {
    isSoldOut = isOver;
  };
  return { send, bought, decisions, sellOut };
}

const BUY = 'mutation Buy { buy(sku: "tea") }';

describe("graphqlOverHttp", () => {
  it("R11: runs queries without a key and without a record, and a mutation once per key", async () => {
    const { send, bought, decisions } = service();

    const queries = [await send({ query: "{ a }" }), await send({ query: "query { a }" }, "k1")];
    const keyless = await send({ query: BUY });
    const [first, again] = [await send({ query: BUY }, "k1"), await send({ query: BUY }, "k1")];

    expect(queries.map(({ body }) => JSON.parse(body))).toEqual([{ data: { a: "A" } }, { data: { a: "A" } }]);
    expect(keyless.statusCode).toBe(400);
    expect([first.body, again.body]).toEqual([first.body, first.body]);
    expect(again.headers).toMatchObject({ "Idempotent-Replayed": "true" });
    expect(bought).toEqual(["tea"]);
    expect(decisions()).toEqual(["key-missing", "executed", "replayed"]);
  });

  it("R11: does not keep a mutation's answer of 200 with errors, and the retry runs", async () => {
    const { send, bought, sellOut } = service();

    sellOut(true);
    const failed = await send({ query: BUY }, "k1");
    sellOut(false);
    const retried = await send({ query: BUY }, "k1");

    expect(JSON.parse(failed.body)).toMatchObject({ errors: [{ message: "sold out" }] });
    expect(JSON.parse(retried.body)).toEqual({ data: { buy: "tea" } });
    expect(bought).toEqual(["tea", "tea"]);
  });

  it("R11: keeps an answer with errors if something was committed", async () => {
    const { send, bought, sellOut } = service(true);

    sellOut(true);
    const failed = await send({ query: BUY }, "k1");
    sellOut(false);
    const retried = await send({ query: BUY }, "k1");

    expect(retried.body).toBe(failed.body);
    expect(bought).toEqual(["tea"]);
  });

  it("R11: keeps an answer with errors if one of the mutations has succeeded", async () => {
    const { send, bought } = service();
    const both = { query: 'mutation { tea: buy(sku: "tea") rate }' };

    const [first, retried] = [await send(both, "k1"), await send(both, "k1")];

    expect(JSON.parse(first.body)).toMatchObject({ data: { tea: "tea", rate: null }, errors: [{}] });
    expect(retried.body).toBe(first.body);
    expect(bought).toEqual(["tea"]);
  });

  it.each([
    ["application/json", true],
    ["application/graphql+json", true],
    ["application/graphql", false],
    ["application/jsonx", false],
    ["text/plain", false],
    ["multipart/form-data; boundary=b", false],
  ])("R11: reads the body only if its type is JSON: %s", (type, reads) => {
    expect(graphqlOverHttp.skip(jsonEvent('{"query":"{ a }"}', { "Content-Type": type }))).toBe(reads);
    expect(graphqlOverHttp.skip(v2Event({ body: '{"query":"{ a }"}' }))).toBe(false);
  });

  it("R11: refuses a `skip` that returns a promise, which would skip everything", async () => {
    const { options, context } = given();
    const skip = (async () => Promise.reject(new Error("lost"))) as never;
    const handler = httpIdempotent(async () => "never", { ...options, scope: "public", skip });

    await expect(async () => handler(jsonEvent("{}"), context())).rejects.toThrow(
      "`skip` must return a boolean, not a promise",
    );
  });

  const both = `query Read { a } ${BUY}`;
  it.each<[string, unknown, boolean]>([
    ["a subscription", { query: "subscription { b }" }, true],
    [
      "a query and its fragments",
      { query: "query Q($x: T = {y: [1]}) @d(if: true) { ...F } fragment F on Query { a }" },
      true,
    ],
    [
      "the word in a comment, a string and a name",
      { query: '# mutation {\nquery mutation { a(b: "mutation {", c: """mutation "{" """) }' },
      true,
    ],
    ["a query that is named among others", { query: both, operationName: "Read" }, true],
    ["a batch of queries", [{ query: "{ a }" }, { query: "query { a }" }], true],
    ["a mutation that is named among others", { query: both, operationName: "Buy" }, false],
    ["several operations and no name", { query: both }, false],
    ["a name that no operation has", { query: "query Read { a }", operationName: "Buy" }, false],
    ["a batch with one mutation", [{ query: "{ a }" }, { query: BUY }], false],
    ["an empty batch", [], false],
    [
      "a mutation behind a string with an escaped quote",
      { query: `query A { a(b: "\\"") } ${BUY}`, operationName: "Buy" },
      false,
    ],
    ["a persisted operation", { extensions: { persistedQuery: { sha256Hash: "0" } } }, false],
    ["a document that isn't closed", { query: "query { a" }, false],
    ["a document closed too often", { query: "{ a } }" }, false],
    ["a document of types", { query: "type Query { a: String }" }, false],
    ["something that isn't a document", { query: 7 }, false],
    ["no JSON object", "query { a }", false],
  ])("R11: recognizes whether a request only reads: %s", (_, body, reads) => {
    const event = jsonEvent(JSON.stringify(body));
    const encoded = { ...event, body: Buffer.from(event.body!).toString("base64"), isBase64Encoded: true };

    expect([graphqlOverHttp.skip(event), graphqlOverHttp.skip(encoded)]).toEqual([reads, reads]);
  });

  it.each([
    { rawQueryString: "query=mutation%7Bbuy%7D" },
    { rawQueryString: "%25zz=1" },
    { rawQueryString: undefined, queryStringParameters: { operationName: "Buy" } },
    { rawQueryString: undefined, multiValueQueryStringParameters: { extensions: ["{}"] } },
  ])("R11: needs a key for a request whose address could hold another operation: %j", (more) => {
    expect(graphqlOverHttp.skip({ ...jsonEvent('{"query":"{ a }"}'), ...more } as never)).toBe(false);
  });

  const failed = JSON.stringify({ data: null, errors: [{ message: "no" }] });
  it.each<[string, unknown, boolean]>([
    ["data", { statusCode: 200, body: '{"data":{}}' }, true],
    ["an empty list of errors", { statusCode: 200, body: '{"data":{},"errors":[]}' }, true],
    ["a field of that name in the data", { statusCode: 200, body: '{"data":{"errors":[1]}}' }, true],
    ["errors", { statusCode: 200, body: failed }, false],
    ["errors in a batch", { statusCode: 200, body: `[{"data":{}},${failed}]` }, false],
    ["errors without a status, which payload 2 allows", JSON.parse(failed), false],
    ["errors beside data", { statusCode: 200, body: '{"data":{"a":1,"b":null},"errors":[{}]}' }, true],
    [
      "errors beside fields that are null",
      { statusCode: 200, body: '{"data":{"b":null},"errors":[{}]}' },
      false,
    ],
    ["errors beside data in a batch", { statusCode: 200, body: `[{"data":{"a":0}},${failed}]` }, true],
    [
      "errors in base64",
      { statusCode: 200, body: Buffer.from(failed).toString("base64"), isBase64Encoded: true },
      false,
    ],
    [
      "compressed errors",
      {
        ...{ statusCode: 200, headers: { "Content-Encoding": "gzip" }, isBase64Encoded: true },
        body: gzipSync(failed).toString("base64"),
      },
      false,
    ],
    ["another status", { statusCode: 500, body: "" }, false],
    ["no JSON", { statusCode: 200, body: "<html>" }, true],
  ])("R11: decides whether an answer is kept: %s", (_, response, isKept) => {
    expect(graphqlOverHttp.shouldStore(response)).toBe(isKept);
  });
});
