// The differences between HTTP APIs and REST APIs. Types only.
import type { AuthorizerContext, RequestFacts } from "./payload.ts";
import type { GatewayRequest } from "./request.ts";
import type { GatewayMessage, GatewayResponse } from "./response.ts";

export interface GatewayKind {
  readonly requestIdHeader: string;
  /** The event for a route's function. */
  event(request: GatewayRequest, facts: RequestFacts, authorizer: AuthorizerContext | undefined): object;
  /** The response for a function's result, or what is wrong with that result. */
  response(payload: string): GatewayResponse | { readonly problem: string };
  /** The gateway's own answer. */
  message(message: GatewayMessage): GatewayResponse;
}
