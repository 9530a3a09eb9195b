// An API on loopback, on one port: an HTTP API or a REST API. It receives real requests, finds their route, asks its
// authorizer, invokes its function, and responds as API Gateway does, with its limits.
import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createLoopbackServer, listen, stop } from "../../loopback-server.ts";
import type { Authorizer } from "./authorizer.ts";
import { type CorsConfiguration, corsHeaders, preflightResponse } from "./cors.ts";
import type { GatewayKind } from "./gateway-kind.ts";
import { failureReason, type InvokeFunction, invokeWithin } from "./invocation.ts";
import type { ApiFacts, RequestFacts } from "./payload.ts";
import { type GatewayRequest, joinedHeaders, readRequest } from "./request.ts";
import { requestLine } from "./request-line.ts";
import type { GatewayMessage, GatewayResponse } from "./response.ts";
import { matchRoute } from "./routes.ts";

export interface GatewayOptions {
  readonly kind: GatewayKind;
  readonly apiId: string;
  readonly accountId: string;
  readonly region: string;
  readonly cors: CorsConfiguration | undefined;
  /** 0 picks any free one. */
  readonly port: number;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

export interface GatewayRoute {
  readonly invoke: InvokeFunction;
  readonly timeoutMs: number;
  readonly authorizer: Authorizer | undefined;
  /** The function, for people. */
  readonly target?: string;
}

/** A route that the gateway answers by itself. */
export interface MockRoute {
  readonly answer: GatewayResponse;
}

/** Builds a route, given the variables of the requested stage. */
export type StagedRoute = (variables: Readonly<Record<string, string>>) => AnyRoute;

type AnyRoute = GatewayRoute | MockRoute | BrokenRoute;

/** A route that the template has and that cannot be run; its requests are answered with 500. */
export interface BrokenRoute {
  readonly problem: string;
}

export interface Gateway {
  readonly apiId: string;
  readonly url: string;
  /** The URL of the default stage, otherwise of the first one: the URL that clients call. */
  readonly stageUrl: string;
  readonly routeKeys: Iterable<string>;
  setRoute(routeKey: string, route: AnyRoute | StagedRoute): void;
  setStage(name: string, variables: Readonly<Record<string, string>> | undefined): void;
  close(): Promise<void>;
}

/** @throws Error that says what to do, if the port is in use. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const routes = new Map<string, AnyRoute | StagedRoute>();
  const stages: ApiStage[] = [];

  const { kind } = options;

  function routeFor({ method, path }: GatewayRequest) {
    for (const stage of stages.length > 0 ? stages : [DEFAULT_STAGE]) {
      const inStage = pathInStage(path, stage.stage);
      const match = inStage === undefined ? undefined : matchRoute(routes.keys(), method, inStage);
      const found = match && routes.get(match.routeKey);
      if (inStage === undefined || !found) continue;
      const route = typeof found === "function" ? found(stage.stageVariables ?? {}) : found;
      return { path: inStage, match, route, stage };
    }
    return undefined;
  }

  async function answerRequest(request: GatewayRequest, requestId: string): Promise<GatewayResponse> {
    const { cors, apiId, accountId, region } = options;
    const preflight = cors && preflightResponse(cors, request.method, joinedHeaders(request));
    if (preflight) return preflight;

    const found = routeFor(request);
    if (!found) return kind.message("notFound");
    const { path, match, route, stage } = found;
    if ("problem" in route) return failedResponse(match.routeKey, route.problem);
    if ("answer" in route) return route.answer;

    const domainName = `${apiId}.execute-api.${region}.amazonaws.com`;
    const api: ApiFacts = { apiId, accountId, domainName, ...stage };
    const facts: RequestFacts = { api, route: match, requestId, receivedAtMs: options.now() };
    const arn = `arn:aws:execute-api:${region}:${accountId}:${apiId}/${stage.stage}/${request.method}${path}`;
    const authorization = await route.authorizer?.authorize(request, facts, arn);
    if (authorization?.outcome === "unauthorized") return kind.message("unauthorized");
    if (authorization?.outcome === "forbidden") return kind.message("forbidden");
    if (authorization?.outcome === "failed") {
      return failedResponse(match.routeKey, `authorizer: ${authorization.reason}`, "authorizerFailed");
    }
    const event = kind.event(request, facts, authorization?.context);
    return invokeRoute(match.routeKey, route, JSON.stringify(event));
  }

  async function invokeRoute(routeKey: string, route: GatewayRoute, event: string): Promise<GatewayResponse> {
    const result = await invokeWithin(route.invoke, event, route.timeoutMs);
    if (result.outcome === "notWaitedFor") {
      options.log(`${routeKey}: ${failureReason(result, route.timeoutMs)}; the function keeps running`);
      return kind.message("timedOut");
    }
    if (result.outcome !== "ok") return failedResponse(routeKey, failureReason(result, route.timeoutMs));
    const response = kind.response(result.payload);
    return "problem" in response ? failedResponse(routeKey, response.problem) : response;
  }

  function failedResponse(
    routeKey: string,
    reason: string,
    message: GatewayMessage = "functionFailed",
  ): GatewayResponse {
    options.log(`${routeKey}: ${reason}`);
    return kind.message(message);
  }

  async function serveRequest(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAtMs = options.now();
    const requestId = randomBytes(12).toString("base64url");
    const request = await readRequest(message);
    const answer = request ? await answerRequest(request, requestId) : kind.message("payloadTooLarge");
    const cors = options.cors ? corsHeaders(options.cors, message.headers.origin) : {};
    response.writeHead(answer.statusCode, {
      ...answer.headers,
      ...cors,
      "content-length": answer.body.length,
      [kind.requestIdHeader]: requestId,
      ...(answer.cookies.length > 0 && { "set-cookie": [...answer.cookies] }),
    });
    response.end(answer.body);
    const route = request && routeFor(request)?.route;
    const target = route && "target" in route ? route.target : undefined;
    options.log(requestLine({ message, target, answer, tookMs: options.now() - startedAtMs }));
  }

  const server = createLoopbackServer((message, response) => {
    serveRequest(message, response).catch((error: unknown) => {
      options.log(`${message.method} ${message.url} was interrupted: ${String(error)}`);
      response.destroy();
    });
  });
  server.keepAliveTimeout = 60_000;
  const port = await listen(server, options.port);
  const url = `http://127.0.0.1:${port}`;
  return {
    apiId: options.apiId,
    url,
    get stageUrl() {
      const [first = DEFAULT_STAGE] = stages;
      return stages.length === 0 || stages.some(isDefault) ? url : `${url}/${first.stage}`;
    },
    routeKeys: { [Symbol.iterator]: () => routes.keys() },
    setRoute: (routeKey, route) => routes.set(routeKey, route),
    setStage: (name, variables) => {
      stages.push({ stage: name, stageVariables: variables });
      // The default stage handles the requests that no named stage handles.
      stages.sort((one, other) => Number(isDefault(one)) - Number(isDefault(other)));
    },
    close: () => stop(server),
  };
}

type ApiStage = Pick<ApiFacts, "stage" | "stageVariables">;

const DEFAULT_STAGE: ApiStage = { stage: "$default", stageVariables: undefined };

function isDefault({ stage }: ApiStage): boolean {
  return stage === DEFAULT_STAGE.stage;
}

function pathInStage(path: string, stage: string): string | undefined {
  if (stage === "$default") return path;
  if (path === `/${stage}`) return "/";
  return path.startsWith(`/${stage}/`) ? path.slice(stage.length + 1) : undefined;
}
