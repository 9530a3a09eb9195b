/** Reads the verified caller from what the gateway's authorizer found, never from what the client can write. */

import type { HttpRequestEvent } from "./options.ts";

interface AuthorizedEvent {
  readonly requestContext?: {
    readonly authorizer?: {
      readonly claims?: Fields;
      readonly jwt?: { readonly claims?: Fields };
      readonly lambda?: Fields;
    } & Fields;
  };
}
type Fields = Readonly<Record<string, unknown>>;

/**
 * The scope is a claim of the token that API Gateway verified: by a JWT authorizer (payload v2) or a Cognito
 * authorizer (v1). Yields nothing when there is no such claim. `sub` is unique per issuer: with several issuers,
 * write a function that joins both.
 */
export function callerFromJwt(claim = "sub"): (event: HttpRequestEvent) => string | undefined {
  return (event) => {
    const authorizer = (event as AuthorizedEvent | undefined)?.requestContext?.authorizer;
    return textOf(authorizer?.jwt?.claims ?? authorizer?.claims, claim);
  };
}

/** The scope is a field of the context that a Lambda authorizer returned, in payload v1 or v2. */
export function callerFromAuthorizer(field: string): (event: HttpRequestEvent) => string | undefined {
  return (event) => {
    const authorizer = (event as AuthorizedEvent | undefined)?.requestContext?.authorizer;
    return textOf(authorizer?.lambda ?? authorizer, field);
  };
}

/** Payload v1 turns numbers into text; here v2 does the same. */
function textOf(fields: Fields | undefined, name: string): string | undefined {
  const value = fields?.[name];
  return /string|number/.test(typeof value) ? String(value) : undefined;
}
