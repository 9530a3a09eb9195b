// Values of a shape that does not fit: the compiler refuses most, an error reports those that it cannot see.
import type { APIGatewayProxyHandlerV2, SQSHandler } from "aws-lambda";
import { fakeClock, fakeLambdaContext, MemoryStore } from "onceonly/testing";
import {
  callerFromJwt,
  httpIdempotent,
  idempotent,
  idempotentBatch,
  PermanentError,
  runOnce,
} from "../../../lib/index.ts";
import type { Mistake } from "../given.ts";
import { messageOf } from "../given.ts";

const given = { operation: "order", store: new MemoryStore() };
const http = { ...given, scope: "public" } as const;
const plain = { ...given, key: () => "k" };
const put = { requestContext: { http: { method: "PUT" } }, headers: { "idempotency-key": "k" } };
const context = () => fakeLambdaContext({ clock: fakeClock() });

export const TYPE_MISTAKES: readonly Mistake[] = [
  {
    made: "misspells a property of the context",
    reportedBy: "type",
    text: "Property 'awsRequestID' does not exist on type 'LambdaContext & WithIdempotency<MemoryWrite>'",
    make: () =>
      // @ts-expect-error it is awsRequestId
      idempotent(async (_, ctx) => ctx.awsRequestID, plain),
  },
  {
    made: "commits in a request whose method is not in `methods`",
    reportedBy: "error",
    text: "`methods` must include this request's method, and `skip` must not name it: it runs without a record, and has no `context.idempotency.commit`",
    make: () =>
      messageOf(() => httpIdempotent(async (_, ctx) => ctx.idempotency.commit({}), http)(put, context())),
  },
  {
    made: "passes the options before the handler",
    reportedBy: "error",
    text: "`handler` must be a function, and comes before the options (got an object)",
    make: () => messageOf(() => idempotent(plain as never, (async () => 1) as never)),
  },
  {
    made: "omits `scope` over HTTP",
    reportedBy: "type",
    text: "Property 'scope' is missing in type '{ operation: string; store: MemoryStore; }'",
    make: () =>
      // @ts-expect-error HTTP needs a scope
      httpIdempotent(async () => ({ statusCode: 200 }), given),
  },
  {
    made: "returns a response that API Gateway doesn't accept",
    reportedBy: "type",
    text: "Type 'Promise<{ statusCode: string; }>' is not assignable to type 'void | Promise<APIGatewayProxyResultV2<never>>'",
    make: () => {
      // @ts-expect-error a status is a number
      const handler: APIGatewayProxyHandlerV2 = httpIdempotent(async () => ({ statusCode: "201" }), http);
      return handler;
    },
  },
  {
    made: "parses the body before onceonly, without a `fingerprint`",
    reportedBy: "error",
    text: "`fingerprint` is required if a body parser runs before onceonly: set it, or put onceonly before the parser",
    make: () =>
      messageOf(() =>
        httpIdempotent(async (_: { body: object }) => ({}), { ...http, methods: ["PUT"] })(
          { ...put, body: { sku: "tea" } },
          context(),
        ),
      ),
  },
  {
    made: "looks for the caller in a queue event",
    reportedBy: "type",
    text: "'Records' does not exist in type 'CallerEvent'",
    make: () =>
      // @ts-expect-error no caller stands in it
      callerFromJwt()({ Records: [] }),
  },
  {
    made: "gives a PermanentError its status under another name",
    reportedBy: "type",
    text: "'status' does not exist in type 'PermanentErrorOptions'",
    make: () =>
      // @ts-expect-error it is statusCode
      new PermanentError("sold out", { status: 410 }),
  },
  {
    made: "calls `runOnce` without a lease and without the context",
    reportedBy: "error",
    text: "`leaseSeconds` is required if the remaining time isn't known: pass it, or the `context` of the invocation",
    make: () => messageOf(() => runOnce(given, "k", {}, () => 1)),
  },
  {
    made: "passes `runOnce` the event as its context",
    reportedBy: "error",
    text: "`context` must be an object with the method getRemainingTimeInMillis (got an object)",
    make: () => messageOf(() => runOnce({ ...given, context: put as never }, "k", {}, () => 1)),
  },
  {
    made: "passes `idempotentBatch` a handler for a whole batch",
    reportedBy: "type",
    text: "Target signature provides too few arguments. Expected 3 or more, but got 2",
    make: () => {
      const handler: SQSHandler = async () => {};
      // @ts-expect-error it takes the handler of one record
      return idempotentBatch(handler, given);
    },
  },
  {
    made: "passes `idempotentBatch` a handler that responds by a callback",
    reportedBy: "error",
    text: "`handler` must be a function of a record and the context, and must not use a callback",
    make: () =>
      messageOf(() =>
        idempotentBatch(((_: unknown, __: unknown, callback: () => void) => callback()) as never, given),
      ),
  },
];
