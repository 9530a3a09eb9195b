/** The options of the Lambda faces beyond the engine's, and their rules. */
import type { LambdaContext } from "../core/lambda-context.ts";
import { aFunction, type Check, oneOf } from "../core/option-checks.ts";
import { ENGINE_CHECKS, type EngineOptions } from "../core/options.ts";
import type { Verify } from "../core/verify.ts";

/** Reads one text from an event; `undefined` when it holds none. */
export type EventReader<Event> = (event: Event, context: LambdaContext) => string | undefined;

/** The part of an HTTP event that `callerFromJwt` and `callerFromAuthorizer` read, whatever a parser made of the rest. */
export interface CallerEvent {
  readonly requestContext?: object | null | undefined;
}

/**
 * Reads the verified caller. The compiler concludes from the last signature, which has no event: so a `scope` says nothing
 * about the event of the handler.
 */
export interface CallerReader<Event = CallerEvent> {
  (event: Event, context?: LambdaContext): string | undefined;
  (): string | undefined;
}

/** What the HTTP events of all services have in common; `@types/aws-lambda` has the types of each. */
export interface HttpRequestEvent extends CallerEvent {
  /** As it was sent, or in base64 where `isBase64Encoded` says so. */
  readonly body?: string | null;
  readonly isBase64Encoded?: boolean;
  readonly headers?: Readonly<Record<string, string | undefined>> | null;
  readonly pathParameters?: Readonly<Record<string, string | undefined>> | null;
  readonly queryStringParameters?: Readonly<Record<string, string | undefined>> | null;
}

export interface FaceOptions<Event = unknown, Write = unknown>
  extends Omit<EngineOptions<Write>, "fingerprint" | "whenAbandoned"> {
  /**
   * What to do with a key whose attempt was abandoned: its lease ended, and nobody knows whether its effect happened.
   * `"run"` runs again, `"hold"` lets nobody run, a function is asked: docs/use/unknown-outcomes.md. Its `input` is the event.
   * @default "run"
   */
  readonly whenAbandoned?: "run" | "hold" | Verify<Event>;
  /**
   * What to do with an event that carries no key. `reject` refuses the event; `run` makes a fresh key, so that every
   * such event is an operation of its own.
   * @default "reject"
   */
  readonly whenKeyMissing?: "reject" | "run";
  /**
   * Returns the part of the event that tells two payloads apart. A list while a change rolls out: the first is stored, all match.
   * @default - the whole event, without what each request of a gateway or of AppSync has anew (ids, times, connection, headers);
   * for `httpIdempotency` method, path, query and the raw bytes of the body
   */
  readonly fingerprint?: ((event: Event) => unknown) | readonly ((event: Event) => unknown)[];
}

export interface IdempotencyOptions<Event = unknown, Write = unknown> extends FaceOptions<Event, Write> {
  /**
   * The idempotency key: 1 to 255 characters that name one logical operation, the same in every delivery of it.
   * Lambda's `awsRequestId` is not such a key: a producer that sends twice gets two.
   */
  readonly key: EventReader<Event>;
  /**
   * The verified owner of the key, such as a tenant: 1 to 256 characters. A function that yields nothing refuses
   * the event with ScopeMissingError. Leave it out where nobody owns the key; an `undefined` that is given is refused.
   * @default "public"
   */
  readonly scope?: EventReader<Event> | "public";
}

export interface HttpIdempotencyOptions<Event = HttpRequestEvent, Write = unknown>
  extends FaceOptions<Event, Write> {
  /**
   * The verified caller that owns the key, 1 to 256 characters, never read from a header or the body. Give
   * `callerFromJwt()`, `callerFromAuthorizer(field)`, `callerFromTenant()` or a function of your own. A function that
   * yields nothing, blanks or a text such as "undefined" answers 401, or 403 where somebody was authenticated. `"public"`
   * means that all callers share their keys, and can read each other's answers.
   */
  readonly scope: EventReader<Event> | "public";
  /**
   * What a request does while another one holds a live claim. The default waits 3 seconds for the first answer, within the
   * time of the invocation and of the gateway, by reads of the record (`dynamodb:GetItem`). Without that right, and beyond
   * `maxWaiters` (20), the request is refused at once. `"reject"` refuses every one at once, and reads nothing.
   * @default { waitSeconds: 3 }
   */
  readonly whenInProgress?: NonNullable<EngineOptions["whenInProgress"]>;
  /**
   * Reads the key from another place than the header; then `header` and `strict` do not count.
   * @default - the header
   */
  readonly key?: EventReader<Event>;
  /**
   * Methods that need a key. Others pass: nothing is recorded, and each use of `context.idempotency` throws.
   * @default ["POST", "PATCH"]
   */
  readonly methods?: readonly string[];
  /**
   * The header that holds the key, in any case.
   * @default "Idempotency-Key"
   */
  readonly header?: string;
  /**
   * Whether the key must be an RFC 9651 string, as the draft standard says: `"abc"`. Otherwise a bare `abc` is
   * read as the same key.
   * @default false
   */
  readonly strict?: boolean;
  /**
   * Headers for each answer to a request that needs a key: of the handler, replays and refusals. They replace those of the
   * same name, are not recorded, and are read from the event before anything runs. Made for CORS: a browser reads
   * `Retry-After` only where `Access-Control-Expose-Headers` names it. Errors that are thrown on have no headers.
   * @default none
   */
  readonly responseHeaders?: ResponseHeaders | ((event: Event) => ResponseHeaders);
}

/** Values by the names of headers. */
export type ResponseHeaders = Readonly<Record<string, string>>;

const isText = (value: unknown) => typeof value === "string";

const scopeCheck: Check = [
  'must be a function or "public"',
  (value) => value === "public" || typeof value === "function",
  "explicit",
];

export const FACE_CHECKS: Readonly<Record<keyof IdempotencyOptions, Check>> = {
  ...ENGINE_CHECKS,
  key: ["must be a function that reads it, such as `(event) => event.orderId`", aFunction[1]],
  scope: scopeCheck,
  whenKeyMissing: oneOf("reject", "run"),
};

export const HTTP_CHECKS: Readonly<Record<keyof HttpIdempotencyOptions, Check>> = {
  ...FACE_CHECKS,
  methods: [
    "must be a list of method names in capitals",
    (value) => Array.isArray(value) && value.length > 0 && value.every((name) => /^[A-Z-]+$/.test(name)),
  ],
  // RFC 9110 section 5.6.2.
  header: [
    "must be the name of a header",
    (value) => typeof value === "string" && /^[\w!#$%&'*+.^`|~-]+$/.test(value),
  ],
  strict: oneOf(true, false),
  responseHeaders: [
    "must be an object with the values of headers, or a function that yields one",
    (value) =>
      typeof value === "function" || (Object(value) === value && Object.values(Object(value)).every(isText)),
  ],
};
