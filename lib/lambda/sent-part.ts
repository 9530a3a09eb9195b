/** The default fingerprint of `idempotent`: the caller's content, without what differs in each send. */

import { isTrigger, sentToTrigger } from "./cognito.ts";

type Members = Readonly<Record<string, unknown>>;

/**
 * The whole event, except for requests through API Gateway (including WebSocket APIs), ALB, function URLs and AppSync:
 * each has its own ids, times, connection and headers. A retry must match the first request. Nor does it cover the secrets
 * in a Cognito trigger.
 */
export function sentPart(event: unknown): unknown {
  if (isTrigger(event)) return sentToTrigger(event);
  const { requestContext, info, request, identity } = Object(event) as Members;
  if (Object(requestContext) === requestContext) {
    const { apiId, requestId, elb, routeKey, eventType, http, authorizer } = requestContext as Members;
    const isOfApi = typeof apiId === "string" && typeof requestId === "string";
    if (!isOfApi && Object(elb).targetGroupArn === undefined) return event;
    const { headers: _, multiValueHeaders: __, cookies: ___, ...rest } = event as Members;
    const { method } = Object(http) as Members;
    const { principalId } = Object(authorizer) as Members;
    return { ...rest, requestContext: { routeKey, eventType, method, principalId } };
  }
  if (typeof Object(info).fieldName === "string" && Object(request).headers !== undefined) {
    const { request: _, ...rest } = event as Members;
    const { claims: __, sourceIp: ___, ...owner } = Object(identity) as Members;
    return { ...rest, identity: owner };
  }
  return event;
}
