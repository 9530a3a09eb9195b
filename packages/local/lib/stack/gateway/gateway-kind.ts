// What HTTP APIs and REST APIs do differently. Types only.
import type { AuthorizerContext, RequestFacts } from "./payload.ts";
import type { GatewayRequest } from "./request.ts";
import type { GatewayMessage, GatewayResponse } from "./response.ts";

export interface GatewayKind {
  readonly requestIdHeader: string;
  /** The event of the function behind a route. */
  event(request: GatewayRequest, facts: RequestFacts, authorizer: AuthorizerContext | undefined): object;
  /** The response for what a function returned, or what is wrong with that. */
  response(payload: string): GatewayResponse | { readonly problem: string };
  /** The gateway's own answer. */
  message(message: GatewayMessage): GatewayResponse;
}
