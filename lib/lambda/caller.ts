/** Reads the verified caller from the findings of the platform, never from a field that the client can write. */
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
    /** Payload v1: who signed the request, or proved to be who by a certificate. */
    readonly identity?: VerifiedFields | null;
    /** Payload v2: mutual TLS. */
    readonly authentication?: VerifiedFields | null;
    readonly elb?: unknown;
  };
  readonly headers?: VerifiedFields | null;
  readonly multiValueHeaders?: VerifiedFields | null;
}

/**
 * The scope is a claim of the token that API Gateway verified: by a JWT authorizer (payload v2) or a Cognito
 * authorizer (v1). Yields nothing when there is no such claim, or a number beyond 2^53, which another one may have
 * become. `sub` is unique per issuer: with several issuers, write a function that joins both. Users can
 * write some of the other claims themselves: docs/use/keys.md has a table.
 */
export function callerFromJwt(claim = "sub"): CallerReader {
  return (event?: CallerEvent) => {
    const authorizer = authorizerOf(event);
    return textOf(authorizer?.jwt?.claims ?? authorizer?.claims, claim);
  };
}

/**
 * The scope is a field of the context that a Lambda authorizer returned, in payload v1 or v2: text, or a whole number
 * within ±(2^53−1).
 */
export function callerFromAuthorizer(field: string): CallerReader {
  return (event?: CallerEvent) => {
    const authorizer = authorizerOf(event);
    return textOf(authorizer?.lambda ?? authorizer, field);
  };
}

/**
 * The scope is the tenant of the invocation, in a function with Lambda's tenant isolation mode: for any event. It is as
 * trustworthy as whoever sets it: let API Gateway take the header `X-Amz-Tenant-Id` from the authorizer, not from a header
 * of the client. Yields nothing in a function without that mode.
 */
export function callerFromTenant(): CallerReader<unknown> {
  return (_?: unknown, context?: LambdaContext) => {
    const tenantId: unknown = context?.tenantId;
    return typeof tenantId === "string" && tenantId !== "" ? tenantId : undefined;
  };
}

/** Whether the platform says that it has verified somebody: then a missing caller is a claim that is missing. */
export function isAuthenticated(event: unknown): boolean {
  const { requestContext, headers, multiValueHeaders } = event as AuthorizedEvent;
  const { identity, authentication, elb } = requestContext ?? {};
  const names = Object.keys({ ...headers, ...multiValueHeaders });
  return (
    // A Lambda authorizer may say yes and nothing else; HTTP APIs without an authorizer send fields that are null.
    Object.entries(authorizerOf(event) ?? {}).some(([name, value]) => name === "lambda" || value !== null) ||
    Boolean(identity?.userArn ?? identity?.cognitoIdentityId ?? identity?.clientCert) ||
    Boolean(authentication?.clientCert) ||
    Boolean(elb && names.some((name) => name.toLowerCase() === "x-amzn-oidc-data"))
  );
}

function authorizerOf(event: unknown) {
  return (event as AuthorizedEvent | undefined)?.requestContext?.authorizer;
}

/** Payload v1 turns numbers into text; here v2 does the same, where the number is certainly the one that was meant. */
function textOf(fields: VerifiedFields | null | undefined, name: string): string | undefined {
  const value = fields?.[name];
  return typeof value === "string" || Number.isSafeInteger(value) ? String(value) : undefined;
}
