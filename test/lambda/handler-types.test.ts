// Handlers with the types of @types/aws-lambda go in, and what comes out has these types again. Checked by the compiler;
// the run shows that such a handler works.
import type {
  ALBHandler,
  APIGatewayProxyEventV2,
  APIGatewayProxyHandler,
  APIGatewayProxyHandlerV2,
  APIGatewayProxyResultV2,
  APIGatewayProxyStructuredResultV2,
  Callback,
  Context,
  DynamoDBStreamHandler,
  EventBridgeHandler,
  Handler,
  KinesisStreamHandler,
  S3Handler,
  SNSHandler,
  SQSHandler,
  SQSRecord,
} from "aws-lambda";
import {
  callerFromAuthorizer,
  callerFromJwt,
  callerFromTenant,
  httpIdempotent,
  idempotent,
  idempotentBatch,
  keyFromEventBridge,
  keyFromS3,
  keyFromSns,
  type LambdaContext,
} from "onceonly";
import { expect, expectTypeOf, it } from "vitest";
import { given } from "./given.ts";
import { v1Event, v2Event } from "./http/given.ts";

const KEY = { headers: { "Idempotency-Key": '"k"' } };
const { options, context } = given();
const http = { ...options, scope: "public" } as const;
const plain = { ...options, key: () => "k" };

it("wraps handlers that are typed for API Gateway and ALB, with the same type again", async () => {
  const v1: APIGatewayProxyHandler = async (event) => ({ statusCode: 201, body: event.path });
  const v2: APIGatewayProxyHandlerV2 = async (event) => ({ statusCode: 201, body: event.rawPath });
  const alb: ALBHandler = async () => ({ statusCode: 201 });

  const wrapped1: APIGatewayProxyHandler = httpIdempotent(v1, { ...http, operation: "v1" });
  const wrapped2: APIGatewayProxyHandlerV2 = httpIdempotent(v2, { ...http, operation: "v2" });
  const wrappedAlb: ALBHandler = httpIdempotent(alb, http);
  const byJwt: APIGatewayProxyHandlerV2 = httpIdempotent(v2, { ...http, scope: callerFromJwt() });
  const byLambda: APIGatewayProxyHandler = httpIdempotent(v1, {
    ...http,
    scope: callerFromAuthorizer("tenant"),
  });
  const call = (handler: unknown, event: object) =>
    Reflect.apply(handler as () => unknown, undefined, [event, context(), () => {}]);

  expect([wrappedAlb, byJwt, byLambda]).toHaveLength(3);
  for (let calls = 0; calls < 2; calls++) {
    expect(await call(wrapped1, v1Event(KEY))).toMatchObject({ statusCode: 201, body: "/orders" });
    expect(await call(wrapped2, v2Event(KEY))).toMatchObject({ statusCode: 201, body: "/orders" });
  }
});

it("infers a handler's event and context from the type of the export", () => {
  const byJwt: APIGatewayProxyHandlerV2 = httpIdempotent(
    async (event, { idempotency }) => {
      expectTypeOf(event).toEqualTypeOf<APIGatewayProxyEventV2>();
      return { statusCode: 201, body: idempotency.key };
    },
    { ...http, scope: callerFromJwt() },
  );
  const byTenant: APIGatewayProxyHandlerV2 = httpIdempotent(
    async (event) => ({ statusCode: 201, body: event.rawPath }),
    { ...http, scope: callerFromTenant() },
  );
  const batch: SQSHandler = idempotentBatch(async (record) => {
    expectTypeOf(record).toEqualTypeOf<SQSRecord>();
  }, options);

  expect([byJwt, byTenant, batch]).toHaveLength(3);
});

it("wraps handlers of any other event", () => {
  const any: Handler = async () => ({});
  const event: EventBridgeHandler<"paid", { id: string }, void> = async () => {};
  const topic: SNSHandler = async () => {};
  const bucket: S3Handler = async () => {};

  const wrappedAny: Handler = idempotent(any, plain);
  const wrappedEvent: EventBridgeHandler<"paid", { id: string }, void> = idempotent(event, {
    ...options,
    key: keyFromEventBridge(),
  });
  const wrappedTopic: SNSHandler = idempotent(topic, { ...options, key: keyFromSns() });
  const wrappedBucket: S3Handler = idempotent(bucket, { ...options, key: keyFromS3() });

  expect([wrappedAny, wrappedEvent, wrappedTopic, wrappedBucket]).toHaveLength(4);
});

it("keeps the result of a typed handler", () => {
  const v2: APIGatewayProxyHandlerV2<APIGatewayProxyStructuredResultV2> = async () => ({ statusCode: 201 });
  const old = (_event: APIGatewayProxyEventV2, _context: Context, done: Callback<APIGatewayProxyResultV2>) =>
    done(null, { statusCode: 201 });

  const wrapped = httpIdempotent(v2, http);
  const wrappedOld: APIGatewayProxyHandlerV2 = httpIdempotent(old, http);
  const wrappedNew = httpIdempotent(async () => ({ statusCode: 201 }), http);
  const wrappedVoid = idempotent(async () => {}, plain);

  expectTypeOf<Awaited<ReturnType<typeof wrapped>>>().toEqualTypeOf<
    APIGatewayProxyStructuredResultV2 | string
  >();
  expectTypeOf(wrappedNew).returns.toEqualTypeOf<Promise<{ statusCode: number }>>();
  expectTypeOf(wrappedVoid).returns.toEqualTypeOf<Promise<void>>();
  const wrappedDone = httpIdempotent(old, http);
  expectTypeOf(wrappedDone).returns.toEqualTypeOf<Promise<APIGatewayProxyResultV2>>();
  expect(wrappedOld).toBeTypeOf("function");
});

it("creates batch handlers with the types that their sources require", () => {
  const queue: SQSHandler = idempotentBatch(async (_: SQSRecord) => {}, options);
  const shards: KinesisStreamHandler = idempotentBatch(async (record) => record.kinesis.data, options);
  const changes: DynamoDBStreamHandler = idempotentBatch(async (record) => record.dynamodb, options);
  const any: Handler = idempotentBatch(async () => {}, options);

  expect([queue, shards, changes, any]).toHaveLength(4);
});

it("gives the context a type that fits that of @types/aws-lambda, both ways", () => {
  expectTypeOf<Context>().toExtend<LambdaContext>();
  expectTypeOf<LambdaContext>().toExtend<Context>();
  const mine = idempotent(async (_event: object, given: Context) => given.awsRequestId, plain);
  const theirs = (given: Context) => mine({}, given);

  expect(theirs).toBeTypeOf("function");
});

it("reads a caller from events whose body was parsed, and from those of frameworks", () => {
  interface Parsed {
    readonly body: { readonly sku: string };
    readonly requestContext: { readonly authorizer: { readonly jwt: { readonly claims: { sub: string } } } };
  }
  /** As Hono types the event of its adapter: one type for four services. */
  type Adapted =
    | { httpMethod: string; headers: Record<string, string | undefined>; requestContext: { elb: object } }
    | { rawPath: string; headers: Record<string, string[] | undefined>; requestContext: { region: string } };
  const parsed = httpIdempotent(async (event: Parsed, _context) => event.body.sku, {
    ...options,
    scope: callerFromJwt(),
    fingerprint: (event) => event.body,
  });
  const adapted = httpIdempotent(async (_: Adapted) => ({ statusCode: 200 }), {
    ...options,
    scope: callerFromAuthorizer("tenant"),
  });
  const event: Parsed = {
    body: { sku: "tea" },
    requestContext: { authorizer: { jwt: { claims: { sub: "ada" } } } },
  };

  expect([parsed, adapted]).toHaveLength(2);
  expect(callerFromJwt()(event)).toBe("ada");
  // @ts-expect-error an event without a caller
  expect(callerFromJwt()({ Records: [] })).toBeUndefined();
});
