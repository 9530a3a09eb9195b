// A Lambda authorizer in front of routes. It asks its function who the caller is, caches the result for as long as
// the template says, and decides each request from it.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-lambda-authorizer.html
import { type AuthorizerFormat, authorizerPayload } from "./authorizer-payload.ts";
import { identityValues } from "./identity-sources.ts";
import { failureReason, type InvokeFunction, invokeWithin } from "./invocation.ts";
import type { AuthorizerContext, RequestFacts } from "./payload.ts";
import { policyAllows } from "./policy.ts";
import type { GatewayRequest } from "./request.ts";

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html */
const AUTHORIZER_TIMEOUT_MS = 10_000;

export interface AuthorizerOptions {
  readonly invoke: InvokeFunction;
  readonly identitySources: readonly string[];
  readonly format: AuthorizerFormat;
  /** What the first identity must match before the function is invoked. */
  readonly pattern?: RegExp | undefined;
  readonly simpleResponses: boolean;
  /** 0 switches remembering off. */
  readonly resultTtlSeconds: number;
  readonly now: () => number;
}

export type Authorization =
  | { readonly outcome: "allowed"; readonly context: AuthorizerContext }
  | { readonly outcome: "unauthorized" }
  | { readonly outcome: "forbidden" }
  | { readonly outcome: "failed"; readonly reason: string };

export interface Authorizer {
  authorize(request: GatewayRequest, facts: RequestFacts, routeArn: string): Promise<Authorization>;
}

/** The function's result. It may allow one route and deny another, so it is evaluated for each request. */
type AuthorizerAnswer = Readonly<Record<string, unknown>>;

export function createAuthorizer(options: AuthorizerOptions): Authorizer {
  const remembered = new Map<string, { answer: AuthorizerAnswer; until: number }>();

  async function askFunction(
    request: GatewayRequest,
    facts: RequestFacts,
    identity: string[],
    routeArn: string,
  ) {
    const event = authorizerPayload(options.format, request, facts, identity, routeArn);
    const result = await invokeWithin(options.invoke, JSON.stringify(event), AUTHORIZER_TIMEOUT_MS);
    if (result.outcome === "error" && result.errorMessage === "Unauthorized") return "unauthorized";
    if (result.outcome !== "ok") return { reason: failureReason(result, AUTHORIZER_TIMEOUT_MS) };
    const answer: unknown = JSON.parse(result.payload);
    if (!isAnswer(answer, options.simpleResponses)) {
      const expected = options.simpleResponses ? "a boolean isAuthorized" : "a policyDocument";
      return { reason: `its function must return an object with ${expected}` };
    }
    return { answer };
  }

  function decide(answer: AuthorizerAnswer, routeArn: string): Authorization {
    const allowed = options.simpleResponses
      ? answer.isAuthorized === true
      : policyAllows(answer.policyDocument, routeArn);
    if (!allowed) return { outcome: "forbidden" };
    const context = (answer.context ?? {}) as AuthorizerContext;
    const isOfRest = options.format === "TOKEN" || options.format === "REQUEST";
    return {
      outcome: "allowed",
      context: isOfRest ? { ...context, principalId: answer.principalId } : context,
    };
  }

  return {
    async authorize(request, facts, routeArn) {
      const identity = identityValues(options.identitySources, request, facts);
      if (identity === undefined) return { outcome: "unauthorized" };
      if (options.pattern && !options.pattern.test(identity[0] ?? "")) return { outcome: "unauthorized" };

      const key = JSON.stringify(identity);
      const known = remembered.get(key);
      if (known && options.now() < known.until) return decide(known.answer, routeArn);

      const asked = await askFunction(request, facts, identity, routeArn);
      // A function signals this with an error that has exactly this message.
      if (asked === "unauthorized") return { outcome: asked };
      if (!asked.answer) return { outcome: "failed", reason: asked.reason };
      if (options.resultTtlSeconds > 0 && identity.length > 0) {
        remembered.set(key, { answer: asked.answer, until: options.now() + options.resultTtlSeconds * 1000 });
      }
      return decide(asked.answer, routeArn);
    },
  };
}

function isAnswer(value: unknown, simpleResponses: boolean): value is AuthorizerAnswer {
  if (typeof value !== "object" || value === null) return false;
  const answer = value as AuthorizerAnswer;
  if (simpleResponses) return typeof answer.isAuthorized === "boolean";
  return typeof answer.policyDocument === "object" && answer.policyDocument !== null;
}
