/** What an API's documentation says of a handler's idempotency, as a document of OpenAPI 3.1. Pure. */
import {
  checkOptions,
  HTTP_CHECKS,
  type HttpIdempotencyOptions,
  PROBLEM_STATUSES,
  resolveOptions,
} from "onceonly/kit";

/** The answers of onceonly, by status. 401 and 403 are for handlers whose keys belong to callers, 401 also for webhooks. */
const RESPONSES: Readonly<Record<number, { readonly name: string; readonly description: string }>> = {
  400: { name: "IdempotencyKeyRefused", description: "The key is missing or malformed. Nothing ran." },
  401: {
    name: "CallerUnknown",
    description: "The caller isn't authenticated, or a webhook isn't signed. Nothing ran.",
  },
  403: { name: "CallerWithoutScope", description: "The caller isn't allowed to use keys here. Nothing ran." },
  409: {
    name: "IdempotencyKeyInProgress",
    description:
      "Another request with this key is in progress, or its outcome isn't known yet. Send the same request with the same key again after `Retry-After`.",
  },
  410: {
    name: "ResultNotKept",
    description: "The request ran earlier, and its response is no longer kept. It didn't run again.",
  },
  413: {
    name: "PayloadTooLarge",
    description: "The body is larger than the service accepts. Nothing ran.",
  },
  422: {
    name: "IdempotencyKeyReused",
    description: "The key was used for a different request. Use a new key for a new request.",
  },
  500: {
    name: "NotRepeatable",
    description: "The service failed. Don't resend the request with a different key.",
  },
  503: {
    name: "IdempotencyUnavailable",
    description:
      "Keys can't be looked up right now. Send the same request with the same key again after `Retry-After`.",
  },
};

const WITH_RETRY_AFTER = new Set([409, 503]);

/** Every status that the code answers; 401 is SCOPE_MISSING for an unauthenticated caller. */
const STATUSES = [...new Set([401, ...Object.values(PROBLEM_STATUSES)])].sort((a, b) => a - b);

/**
 * A document with parameter, headers and responses, and with a path item of the methods that need a key. It is to be merged into
 * another one, or referred to.
 * @param options those of `httpIdempotency` or `httpIdempotent`
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function openApiFragment(options: HttpIdempotencyOptions<never>): object {
  checkOptions(options, HTTP_CHECKS, ["scope"]);
  const { operation, scope, methods = ["POST", "PATCH"] } = options;
  const {
    key,
    header: _,
    strict: __,
    methods: ___,
    responseHeaders: ____,
    scope: _____,
    whenKeyMissing,
    ...given
  } = options;
  const { retentionSeconds } = resolveOptions(given as never);
  // The key of a webhook checks its signature.
  const isSigned = (key as { readonly isOfEvent?: true } | undefined)?.isOfEvent === true;
  const isAnswered = (status: number) => (status === 401 ? isSigned : status !== 403);
  const statuses = STATUSES.filter((status) => scope !== "public" || isAnswered(status));
  const of = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });
  const parameters = key === undefined ? { parameters: [of("parameters", "IdempotencyKey")] } : {};
  const replayed = {
    200: {
      description: "The response, or the first response again.",
      headers: { "Idempotent-Replayed": of("headers", "IdempotentReplayed") },
    },
  };
  const refused = statuses.map((status) => [status, of("responses", RESPONSES[status]?.name ?? "")] as const);
  const operationOf = { ...parameters, responses: { ...replayed, ...Object.fromEntries(refused) } };
  return {
    openapi: "3.1.0",
    info: { title: `Idempotency of ${operation}`, version: "1" },
    components: {
      pathItems: {
        [operation.replaceAll(/[^\w.-]/g, "-")]: Object.fromEntries(
          methods.map((method) => [method.toLowerCase(), operationOf]),
        ),
      },
      ...(key === undefined && {
        parameters: { IdempotencyKey: keyParameter(options, retentionSeconds, whenKeyMissing !== "run") },
      }),
      headers: HEADERS,
      responses: Object.fromEntries(statuses.map(response)),
      schemas: { Problem: PROBLEM },
    },
  };
}

function response(status: number) {
  const { name, description } = RESPONSES[status] ?? { name: "", description: "" };
  const headers = WITH_RETRY_AFTER.has(status) && {
    headers: { "Retry-After": { $ref: "#/components/headers/RetryAfter" } },
  };
  const content = { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } };
  return [name, { description, ...headers, content }] as const;
}

function keyParameter(
  { header: name = "Idempotency-Key", strict = false, keyFormat }: HttpIdempotencyOptions<never>,
  retentionSeconds: number,
  required: boolean,
) {
  const quoted = strict ? "an RFC 9651 string, in double quotes" : "with or without double quotes";
  const form =
    keyFormat === undefined ? "" : keyFormat === "uuid" ? " An RFC 9562 UUID." : ` Must match ${keyFormat}.`;
  return {
    name,
    in: "header",
    required,
    description: `Identifies this request, ${quoted}: 1 to 255 characters.${form} For ${spanOf(retentionSeconds)}, a retry with the same key gets the first response again.`,
    schema: { type: "string", minLength: strict ? 3 : 1, maxLength: 257 },
    example: '"0f8fad5b-d9cb-469f-a165-70867728950e"',
  };
}

const SPANS = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
] as const;

/** "2 days" where that is exact. */
function spanOf(seconds: number): string {
  const [size, unit] = SPANS.find(([each]) => seconds % each === 0) ?? [1, "second"];
  const count = seconds / size;
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

const HEADERS = {
  IdempotentReplayed: {
    description: "`true` if this is a replay of the first response.",
    schema: { type: "string", enum: ["true"] },
  },
  RetryAfter: { description: "Seconds to wait before retrying.", schema: { type: "integer", minimum: 1 } },
} as const;

/** RFC 9457. */
const PROBLEM = {
  type: "object",
  required: ["type", "title", "status", "code"],
  properties: {
    type: { type: "string", format: "uri-reference" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string", enum: [...Object.keys(PROBLEM_STATUSES), "PERMANENT"] },
  },
} as const;
