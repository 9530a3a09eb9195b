// An HTTP API on loopback, on one port. It takes real requests, finds their route, asks its authorizer, invokes its
// function, and answers as API Gateway does, with its limits.
import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createLoopbackServer } from "../../loopback-server.ts";
import type { Authorizer } from "./authorizer.ts";
import { type CorsConfiguration, corsHeaders, preflightResponse } from "./cors.ts";
import { failureReason, type InvokeFunction, invokeWithin } from "./invocation.ts";
import { listen } from "./listen.ts";
import { type ApiFacts, functionPayload, type RequestFacts } from "./payload.ts";
import { type GatewayRequest, joinedHeaders, readRequest } from "./request.ts";
import { functionResponse, type GatewayResponse, gatewayMessage } from "./response.ts";
import { matchRoute } from "./routes.ts";

export interface HttpApiOptions {
  readonly apiId: string;
  readonly accountId: string;
  readonly region: string;
  readonly cors: CorsConfiguration | undefined;
  /** 0 takes any free one. */
  readonly port: number;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

export interface HttpApiRoute {
  readonly invoke: InvokeFunction;
  readonly timeoutMs: number;
  readonly authorizer: Authorizer | undefined;
}

/** A route that the template has and that cannot be run; its requests are answered with 500. */
export interface BrokenRoute {
  readonly problem: string;
}

export interface HttpApi {
  readonly apiId: string;
  readonly url: string;
  readonly routeKeys: Iterable<string>;
  setRoute(routeKey: string, route: HttpApiRoute | BrokenRoute): void;
  setStage(name: string, variables: Readonly<Record<string, string>> | undefined): void;
  close(): Promise<void>;
}

/** @throws Error that says what to do, if the port is taken. */
export async function startHttpApi(options: HttpApiOptions): Promise<HttpApi> {
  const routes = new Map<string, HttpApiRoute | BrokenRoute>();
  let stage: Pick<ApiFacts, "stage" | "stageVariables"> = { stage: "$default", stageVariables: undefined };

  async function answerRequest(request: GatewayRequest, requestId: string): Promise<GatewayResponse> {
    const { cors, apiId, accountId, region } = options;
    const preflight = cors && preflightResponse(cors, request.method, joinedHeaders(request));
    if (preflight) return preflight;

    const path = pathInStage(request.path, stage.stage);
    const match = path === undefined ? undefined : matchRoute(routes.keys(), request.method, path);
    const route = match && routes.get(match.routeKey);
    if (!match || !route) return gatewayMessage("notFound");
    if ("problem" in route) return failedResponse(match.routeKey, route.problem);

    const domainName = `${apiId}.execute-api.${region}.amazonaws.com`;
    const api: ApiFacts = { apiId, accountId, domainName, ...stage };
    const facts: RequestFacts = { api, route: match, requestId, receivedAtMs: options.now() };
    const arn = `arn:aws:execute-api:${region}:${accountId}:${apiId}/${stage.stage}/${request.method}${path}`;
    const authorization = await route.authorizer?.authorize(request, facts, arn);
    if (authorization?.outcome === "unauthorized") return gatewayMessage("unauthorized");
    if (authorization?.outcome === "forbidden") return gatewayMessage("forbidden");
    if (authorization?.outcome === "failed") {
      return failedResponse(match.routeKey, `authorizer: ${authorization.reason}`);
    }
    const event = functionPayload(request, facts, authorization?.context);
    return invokeRoute(match.routeKey, route, JSON.stringify(event));
  }

  async function invokeRoute(routeKey: string, route: HttpApiRoute, event: string): Promise<GatewayResponse> {
    const result = await invokeWithin(route.invoke, event, route.timeoutMs);
    if (result.outcome === "notWaitedFor") {
      options.log(`${routeKey}: ${failureReason(result, route.timeoutMs)}; the function runs on`);
      return gatewayMessage("serviceUnavailable");
    }
    if (result.outcome !== "ok") return failedResponse(routeKey, failureReason(result, route.timeoutMs));
    const response = functionResponse(result.payload);
    return "problem" in response ? failedResponse(routeKey, response.problem) : response;
  }

  function failedResponse(routeKey: string, reason: string): GatewayResponse {
    options.log(`${routeKey}: ${reason}`);
    return gatewayMessage("internalServerError");
  }

  async function serveRequest(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAtMs = options.now();
    const requestId = randomBytes(12).toString("base64url");
    const request = await readRequest(message);
    const answer = request ? await answerRequest(request, requestId) : gatewayMessage("payloadTooLarge");
    const cors = options.cors ? corsHeaders(options.cors, message.headers.origin) : {};
    response.writeHead(answer.statusCode, {
      ...answer.headers,
      ...cors,
      "content-length": answer.body.length,
      "apigw-requestid": requestId,
      ...(answer.cookies.length > 0 && { "set-cookie": [...answer.cookies] }),
    });
    response.end(answer.body);
    options.log(`${message.method} ${message.url} ${answer.statusCode} ${options.now() - startedAtMs} ms`);
  }

  const server = createLoopbackServer((message, response) => {
    serveRequest(message, response).catch((error: unknown) => {
      options.log(`${message.method} ${message.url} was cut off: ${String(error)}`);
      response.destroy();
    });
  });
  server.keepAliveTimeout = 60_000;
  const port = await listen(server, options.port);
  return {
    apiId: options.apiId,
    url: `http://127.0.0.1:${port}`,
    routeKeys: { [Symbol.iterator]: () => routes.keys() },
    setRoute: (routeKey, route) => routes.set(routeKey, route),
    setStage: (name, variables) => {
      stage = { stage: name, stageVariables: variables };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function pathInStage(path: string, stage: string): string | undefined {
  if (stage === "$default") return path;
  if (path === `/${stage}`) return "/";
  return path.startsWith(`/${stage}/`) ? path.slice(stage.length + 1) : undefined;
}
