/** Reads the caller that the platform verified, never a field that the client can write. */
import type { LambdaContext } from "../core/lambda-context.ts";
import type { CallerEvent, CallerReader } from "./options.ts";

type VerifiedFields = Readonly<Record<string, unknown>>;

interface AuthorizedEvent {
  readonly requestContext?: {
    readonly authorizer?:
      | ({
          readonly claims?: VerifiedFields;
          readonly jwt?: { readonly claims?: VerifiedFields };
          readonly lambda?: VerifiedFields;
        } & VerifiedFields)
      | null;
    /** Payload v1: the caller that signed the request or presented a certificate. */
    readonly identity?: VerifiedFields | null;
    /** Payload v2: mutual TLS. */
    readonly authentication?: VerifiedFields | null;
    readonly elb?: unknown;
  };
  readonly headers?: VerifiedFields | null;
  readonly multiValueHeaders?: VerifiedFields | null;
}

/**
 * Uses a claim of the token that API Gateway verified, with a JWT authorizer (payload v2) or a Cognito authorizer (v1).
 * Returns nothing if the claim is missing, or is a number beyond 2^53, which may have been rounded. `sub` is unique per
 * issuer: with several issuers, write a function that joins both. Users can write some of the other claims themselves:
 * docs/reference/keys.md has a table.
 */
export function callerFromJwt(claim = "sub"): CallerReader {
  return (event?: CallerEvent) => {
    const authorizer = authorizerOf(event);
    return textOf(authorizer?.jwt?.claims ?? authorizer?.claims, claim);
  };
}

/**
 * Uses a field of the context that a Lambda authorizer returned, in payload v1 or v2: a string, or a whole number within
 * ±(2^53−1).
 */
export function callerFromAuthorizer(field: string): CallerReader {
  return (event?: CallerEvent) => {
    const authorizer = authorizerOf(event);
    return textOf(authorizer?.lambda ?? authorizer, field);
  };
}

/**
 * Uses the invocation's tenant, for any event in a function with Lambda's tenant isolation mode. The tenant is only as
 * trustworthy as its source: let API Gateway set `X-Amz-Tenant-Id` from the authorizer, not from a client's header.
 * Returns nothing in a function without that mode.
 */
export function callerFromTenant(): CallerReader<unknown> {
  return (_?: unknown, context?: LambdaContext) => {
    const tenantId: unknown = context?.tenantId;
    return typeof tenantId === "string" && tenantId !== "" ? tenantId : undefined;
  };
}

/** Whether the platform verified the caller. If it did and there's no caller, a claim is missing. */
export function isAuthenticated(event: unknown): boolean {
  const { requestContext, headers, multiValueHeaders } = event as AuthorizedEvent;
  const { identity, authentication, elb } = requestContext ?? {};
  const names = Object.keys({ ...headers, ...multiValueHeaders });
  return (
    // A Lambda authorizer may allow a request without any field; HTTP APIs without an authorizer send null fields.
    Object.entries(authorizerOf(event) ?? {}).some(([name, value]) => name === "lambda" || value !== null) ||
    Boolean(identity?.userArn ?? identity?.cognitoIdentityId ?? identity?.clientCert) ||
    Boolean(authentication?.clientCert) ||
    Boolean(elb && names.some((name) => name.toLowerCase() === "x-amzn-oidc-data"))
  );
}

function authorizerOf(event: unknown) {
  return (event as AuthorizedEvent | undefined)?.requestContext?.authorizer;
}

/** Payload v1 turns numbers into strings. For v2, do the same with numbers that can't have been rounded. */
function textOf(fields: VerifiedFields | null | undefined, name: string): string | undefined {
  const value = fields?.[name];
  return typeof value === "string" || Number.isSafeInteger(value) ? String(value) : undefined;
}
