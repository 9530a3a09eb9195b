// Checked by the compiler: what these adapters promise to TypeScript. The run only shows that they load.
import middy from "@middy/core";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, SQSEvent } from "aws-lambda";
import {
  callerFromJwt,
  type Execution,
  httpIdempotency,
  httpIdempotent,
  idempotency,
  idempotent,
} from "onceonly";
import { MemoryStore, type MemoryWrite } from "onceonly/testing";
import { expect, expectTypeOf, it } from "vitest";

const store = new MemoryStore();
const options = { operation: "create-order", store };
const http = { ...options, scope: callerFromJwt() };

it("gives handlers of a Middy stack a typed execution, whose commit accepts the store's own writes", () => {
  const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .use(httpIdempotency(http))
    .handler(async (event, context) => {
      expectTypeOf(event).toExtend<APIGatewayProxyEventV2>();
      expectTypeOf(context.idempotency).toEqualTypeOf<Execution<MemoryWrite>>();
      expectTypeOf(context.getRemainingTimeInMillis()).toEqualTypeOf<number>();
      // @ts-expect-error a write of another store
      void (() => context.idempotency.commit({}, { writes: [{ Put: {} }] }));
      return context.idempotency.commit(
        { statusCode: 201, body: event.rawPath },
        { writes: [{ table: "orders", key: context.idempotency.key, item: {} }] },
      );
    });

  expect(handler).toBeTypeOf("function");
});

it("lets no effects pass for the result of a commit", () => {
  const commits = ({ commit }: Execution<MemoryWrite>) => {
    // @ts-expect-error effects without a result
    void commit({ writes: [{ table: "orders", key: "1", item: {} }] });
    // @ts-expect-error messages without a result
    void commit({ messages: [] });
    // @ts-expect-error a misspelt effect
    void commit("done", { write: [] });
    // @ts-expect-error effects that are no object
    void commit("done", []);
    expectTypeOf(commit({ messages: ["hello"] }, {})).toEqualTypeOf<Promise<{ messages: string[] }>>();
    expectTypeOf(commit({ writes: 3 })).toEqualTypeOf<Promise<{ writes: number }>>();
    expectTypeOf(commit({ id: 1, writes: [] as string[] })).resolves.toEqualTypeOf<{
      id: number;
      writes: string[];
    }>();
    expectTypeOf(commit(undefined)).toEqualTypeOf<Promise<undefined>>();
    expectTypeOf(commit(JSON.parse("1"))).resolves.toBeAny();
    void commit({});
  };
  const helper = <Result>({ commit }: Execution<MemoryWrite>, result: Result) => commit(result, {});

  expect([commits, helper]).toHaveLength(2);
});

it("types a handler that reports, in both places that Middy accepts", () => {
  const once = httpIdempotency(http);
  const untyped = middy()
    .use(once)
    .handler(
      once.handler(async (event, context, { signal }) => {
        expectTypeOf(event.body).toEqualTypeOf<string | null | undefined>();
        expectTypeOf(context.idempotency).toEqualTypeOf<Execution<MemoryWrite>>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      }),
    );
  const typed = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .use(once)
    .handler(
      once.handler(async (event: APIGatewayProxyEventV2, { idempotency: { commit } }) =>
        commit({ statusCode: 201, body: event.rawPath }),
      ),
    );
  const given = middy(once.handler(async (event: APIGatewayProxyEventV2) => event.rawPath)).use(once);

  expect([untyped, typed, given]).toHaveLength(3);
});

it("infers the event's type from a middleware's readers", () => {
  const middleware = idempotency({ ...options, key: (event: SQSEvent) => event.Records[0]?.messageId });
  const handler = middy()
    .use(middleware)
    .handler(async (event) => {
      expectTypeOf(event).toEqualTypeOf<SQSEvent>();
    });

  expect(handler).toBeTypeOf("function");
});

it("knows the fields that all HTTP events share if nothing more specific is given", () => {
  const inStack = middy()
    .use(httpIdempotency(http))
    .handler(async (event) => expectTypeOf(event.body).toEqualTypeOf<string | null | undefined>());
  const wrapped = httpIdempotent(
    async (event, context) => context.idempotency.commit({ statusCode: 201, body: event.body }),
    { ...options, scope: "public" },
  );
  const typed = httpIdempotent(async (event: APIGatewayProxyEventV2, context) => {
    expectTypeOf(context.idempotency).toEqualTypeOf<Execution<MemoryWrite>>();
    return { statusCode: 201, body: event.rawPath };
  }, http);

  expectTypeOf(typed).returns.toEqualTypeOf<Promise<{ statusCode: number; body: string }>>();
  expect([inStack, wrapped, typed]).toHaveLength(3);
});

it("keeps the types of a wrapped handler", () => {
  const handler = idempotent(
    async (event: { id: string }, context) => {
      expectTypeOf(context.idempotency).toEqualTypeOf<Execution<MemoryWrite>>();
      return event.id.length;
    },
    { ...options, key: (event) => event.id },
  );
  const answer = () => handler({ id: "1" }, undefined as never);

  expectTypeOf(answer).returns.toEqualTypeOf<Promise<number>>();
  // @ts-expect-error an event of another type
  expect(() => handler({ id: 1 }, undefined as never)).toBeTypeOf("function");
});

it("requires the mandatory options", () => {
  // @ts-expect-error HTTP needs a scope
  expect(() => httpIdempotent(async () => ({ statusCode: 200 }), options)).toThrow("scope");
  // @ts-expect-error there is no default key
  expect(() => idempotency(options)).toThrow("key");
});
