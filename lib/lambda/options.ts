/** The options that the Lambda adapters add to the engine's, and their checks. */
import type { LambdaContext } from "../core/lambda-context.ts";
import { aFunction, type Check, oneOf } from "../core/option-checks.ts";
import { ENGINE_CHECKS, type EngineOptions } from "../core/options.ts";
import type { Returns } from "../core/run-once.ts";
import type { Verify } from "../core/verify.ts";

/** Reads one string from an event; `undefined` if the event doesn't have it. */
export type EventReader<Event> = (event: Event, context: LambdaContext) => string | undefined;

/** The part of an HTTP event that `callerFromJwt` and `callerFromAuthorizer` read. A parser may have changed the rest. */
export interface CallerEvent {
  readonly requestContext?: object | null | undefined;
}

/**
 * Reads the verified caller. The compiler infers from the last signature, which has no event, so `scope` doesn't decide
 * the type of the handler's event.
 */
export interface CallerReader<Event = CallerEvent> {
  (event: Event, context?: LambdaContext): string | undefined;
  (): string | undefined;
}

/** A `key` that reads the whole HTTP request, body included, on Lambda and on servers: `keyFromWebhook` makes one. */
export interface RequestKey {
  (event: unknown, context?: LambdaContext): string | undefined;
  (): string | undefined;
  /** Servers read the body first, and pass the request in the form of a Lambda event. */
  readonly isOfEvent: true;
  /** Used unless the operation's options set them. */
  readonly defaults: {
    readonly retentionSeconds: number;
    readonly fingerprint?: ((event: unknown) => unknown) | undefined;
  };
}

/** The fields that the HTTP events of all services share; `@types/aws-lambda` has the full types. */
export interface HttpRequestEvent extends CallerEvent {
  /** As sent, or base64 if `isBase64Encoded` is true. */
  readonly body?: string | null;
  readonly isBase64Encoded?: boolean;
  readonly headers?: Readonly<Record<string, string | undefined>> | null;
  /** From REST APIs and load balancers, which may send these instead of `headers`. */
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null;
  readonly pathParameters?: Readonly<Record<string, string | undefined>> | null;
  readonly queryStringParameters?: Readonly<Record<string, string | undefined>> | null;
}

export interface WrapperOptions<Event = unknown, Write = unknown>
  extends Omit<EngineOptions<Write>, "fingerprint" | "whenAbandoned"> {
  /**
   * What to do when an earlier attempt's lease ended and its outcome is unknown: `"run"` again, `"hold"` the key for an
   * operator, or ask a function, whose `input` is the event: docs/guides/payment-providers.md.
   * @default "run"
   */
  readonly whenAbandoned?: "run" | "hold" | Verify<Event>;
  /**
   * What to do with an event without a key. `reject` refuses it; `run` creates a new key, so each such event is a
   * separate operation.
   * @default "reject"
   */
  readonly whenKeyMissing?: "reject" | "run";
  /**
   * Returns the part of the event that decides whether two calls carry the same request. Pass a list while a change rolls
   * out: the first one's result is stored, and a match with any counts.
   * @default - the whole event, without what differs in each gateway or AppSync request (ids, times, connection,
   * headers). For `httpIdempotency`: method, path, query and the raw bytes of the body
   */
  readonly fingerprint?: ((event: Event) => unknown) | readonly ((event: Event) => unknown)[];
}

export interface IdempotencyOptions<Event = unknown, Write = unknown, R extends Returns = "result">
  extends WrapperOptions<Event, Write> {
  /**
   * The idempotency key: 1 to 255 characters that name one logical operation, the same in every delivery of it. Don't use
   * Lambda's `awsRequestId`: an event that is sent twice has two of them.
   */
  readonly key: EventReader<Event>;
  /**
   * The verified owner of the key, such as a tenant: 1 to 256 characters. If the function returns nothing, the event is
   * refused with ScopeMissingError. Leave the option out if keys have no owner; an explicit `undefined` is refused.
   * @default "public"
   */
  readonly scope?: EventReader<Event> | "public";
  /**
   * With `"outcome"`, the handler returns `{ result, replayed }`, for example for a Choice state in Step Functions. The
   * record stores only the result.
   * @default "result"
   */
  readonly returns?: R;
}

export interface HttpIdempotencyOptions<Event = HttpRequestEvent, Write = unknown>
  extends WrapperOptions<Event, Write> {
  /**
   * The verified caller that owns the key, 1 to 256 characters. Never read it from a header or the body: pass
   * `callerFromJwt()`, `callerFromAuthorizer(field)`, `callerFromTenant()` or your own function. If it returns nothing,
   * blanks or a string such as "undefined", the response is 401, or 403 if the platform authenticated the request. With
   * `"public"`, all callers share their keys and can read each other's responses.
   */
  readonly scope: EventReader<Event> | "public";
  /**
   * What a request does while another one holds a live claim. By default it waits up to 3 seconds for the first response,
   * if invocation and gateway have that time, by reading the record (`dynamodb:GetItem`). Without that permission, or
   * beyond `maxWaiters` (20), it is refused immediately. `"reject"` never waits or reads.
   * @default { waitSeconds: 3 }
   */
  readonly whenInProgress?: NonNullable<EngineOptions["whenInProgress"]>;
  /**
   * Reads the key from somewhere other than the header, such as `keyFromWebhook("stripe", { secret })`; `header` and
   * `strict` are then ignored.
   * @default - the header
   */
  readonly key?: EventReader<Event>;
  /**
   * Methods that need a key. Requests with other methods run without a record, and any use of `context.idempotency`
   * throws.
   * @default ["POST", "PATCH"]
   */
  readonly methods?: readonly string[];
  /**
   * Requests that run without a record although their method is in `methods`, such as the queries of `graphqlOverHttp`.
   * @default none
   */
  readonly skip?: (event: Event) => boolean;
  /**
   * The header that holds the key; case doesn't matter.
   * @default "Idempotency-Key"
   */
  readonly header?: string;
  /**
   * Whether the key must be an RFC 9651 string such as `"abc"`, as the draft standard says. Otherwise a bare `abc` is
   * accepted as the same key.
   * @default false
   */
  readonly strict?: boolean;
  /**
   * Headers for every response to a request that needs a key: the handler's, replays and refusals. They replace headers
   * of the same name, aren't recorded, and are read from the event before anything runs. Use them for CORS: a browser can
   * read `Retry-After` only if `Access-Control-Expose-Headers` lists it. Errors that are rethrown have no headers.
   * @default none
   */
  readonly responseHeaders?: ResponseHeaders | ((event: Event) => ResponseHeaders);
  /**
   * How onceonly's errors look, for callers that expect another convention: `ietfProfile`, `stripeProfile`, `acpProfile` or
   * your own. What is stored, replayed and refused stays the same.
   * @default - problem details (RFC 9457) with onceonly's codes
   */
  readonly profile?: HttpProfile;
}

/** A problem as onceonly sends it by default (RFC 9457). */
export interface ProblemDetails {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** Never repeats a payload or a result. */
  readonly detail?: string;
  /** The error's stable code, such as `FINGERPRINT_MISMATCH`. */
  readonly code: string;
}

/** Statuses, codes and bodies of onceonly's errors by another convention. */
export interface HttpProfile {
  /** Refuses options that contradict the convention, by an error that is thrown immediately. */
  check?(options: Pick<HttpIdempotencyOptions, "retentionSeconds" | "whenKeyMissing">): void;
  /** Headers for every response to a request that needs a key. `header` returns the lines of a request header. */
  headers?(header: (name: string) => readonly string[], keyHeader: string): ResponseHeaders;
  /** Returns the response for a problem. `contentType` is `application/problem+json` by default. */
  problem(problem: ProblemDetails): {
    readonly status: number;
    readonly body: object;
    readonly contentType?: string;
  };
}

/** Header values by name. */
export type ResponseHeaders = Readonly<Record<string, string>>;

const scopeCheck: Check = [
  'must be a function or "public"',
  (value) => value === "public" || typeof value === "function",
  "explicit",
];

export const WRAPPER_CHECKS: Readonly<Record<Exclude<keyof IdempotencyOptions, "returns">, Check>> = {
  ...ENGINE_CHECKS,
  key: ["must be a function that reads it, such as `(event) => event.orderId`", aFunction[1]],
  scope: scopeCheck,
  whenKeyMissing: oneOf("reject", "run"),
};
