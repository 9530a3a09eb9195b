/** Requests to the small services of AWS as exchanges. */
import {
  type AwsHttpAnswer,
  type AwsHttpCall,
  AwsHttpError,
  type AwsHttpService,
} from "../aws/http-services/http-service.ts";
import type { Exchange } from "./exchange.ts";
import type { IoService } from "./io.ts";
import { REFUSED_BY_FAULT } from "./refused-entries.ts";
import type { SdkHttpRequest, SdkHttpResponse } from "./scene.ts";
import { attemptOf, brokenConnection } from "./sdk-request.ts";

export function awsHttpExchange(
  name: IoService,
  service: AwsHttpService,
  { operation, target, input, run }: AwsHttpCall,
  request: SdkHttpRequest,
  envelope: () => Readonly<Record<string, string>>,
): Exchange<SdkHttpResponse> {
  const described = new WeakMap<SdkHttpResponse, string>();
  const asHttp = (
    text: string,
    { status, headers, body = "", isStreamed }: AwsHttpAnswer,
  ): SdkHttpResponse => {
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    const response = { statusCode: status, headers: { ...headers, ...envelope() }, body: bytes, isStreamed };
    described.set(response, text);
    return response;
  };
  const refused = (code: string, status: number, message = REFUSED_BY_FAULT) => {
    const { body, ...answer } = service.refusal(code, status, message);
    return asHttp(code, request.method === "HEAD" ? answer : { ...answer, ...(body && { body }) });
  };
  return {
    io: { service: name, operation, target, input, attempt: attemptOf(request) },
    run: async () => {
      try {
        return asHttp("ok", run());
      } catch (error) {
        if (!(error instanceof AwsHttpError)) throw error;
        return refused(error.code, error.status, error.message);
      }
    },
    broken: brokenConnection,
    throttled: async () => refused(service.throttling.code, service.throttling.status),
    refused: async ({ code, status = 400 }) => refused(code, status),
    describe: (response) => described.get(response) ?? String(response.statusCode),
  };
}
