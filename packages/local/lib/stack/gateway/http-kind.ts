// HTTP APIs: payload format 2.0.
import type { GatewayKind } from "./gateway-kind.ts";
import { functionPayload } from "./payload.ts";
import { functionResponse, gatewayMessage } from "./response.ts";

export const httpKind: GatewayKind = {
  requestIdHeader: "apigw-requestid",
  event: functionPayload,
  response: functionResponse,
  message: gatewayMessage,
};
