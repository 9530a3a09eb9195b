// The types that the middleware promises to a Middy 7 stack. `npm run test:middy7` compiles it; nothing runs it.
import type middy from "@middy/core";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { callerFromJwt, type Execution, httpIdempotency } from "onceonly";
import { MemoryStore, type MemoryWrite } from "onceonly/testing";

type Stack = middy.MiddyfiedHandler<APIGatewayProxyEventV2>;

const once = httpIdempotency({
  operation: "create-order",
  store: new MemoryStore(),
  scope: callerFromJwt(),
});

export const typed = (stack: Stack) =>
  stack.use(once).handler(async (event, context) => {
    const execution: Execution<MemoryWrite> = context.idempotency;
    return execution.commit(event.rawPath, { writes: [{ table: "orders", key: execution.key, item: {} }] });
  });

export const withHandler = (stack: Stack) =>
  stack.use(once).handler(once.handler((event: APIGatewayProxyEventV2) => event.rawPath));

export const wrongWrite = (stack: Stack) =>
  stack.use(once).handler(async (_event, { idempotency }) =>
    // @ts-expect-error a write for another store
    idempotency.commit("done", { writes: [{ Put: {} }] }),
  );
