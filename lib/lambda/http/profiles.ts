/** How onceonly's own errors look to callers of an API that follows another convention: statuses, codes and bodies. */
import { InvalidOptionError } from "../../core/errors.ts";
import type { HttpProfile, ProblemDetails } from "../options.ts";

type Changes = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

const TITLES: Changes = {
  IDEMPOTENCY_KEY_MISSING: { title: "Idempotency-Key is missing" },
  FINGERPRINT_MISMATCH: { title: "Idempotency-Key is already used" },
  EXECUTION_IN_PROGRESS: { title: "A request is outstanding for this Idempotency-Key" },
};

/**
 * The IETF draft `draft-ietf-httpapi-idempotency-key-header-07`: 400, 422 and 409 as problem details with the draft's
 * titles. Set `strict` too, to refuse a key without quotes.
 */
export const ietfProfile: HttpProfile = {
  problem: (problem) => ({ status: problem.status, body: { ...problem, ...TITLES[problem.code] } }),
};

const STRIPE: Changes = {
  FINGERPRINT_MISMATCH: { status: 400, type: "idempotency_error" },
  EXECUTION_IN_PROGRESS: { type: "idempotency_error", code: "idempotency_key_in_use" },
  IDEMPOTENCY_KEY_MISSING: { code: "parameter_missing" },
};

/**
 * Errors as Stripe's API sends them, `{ "error": { "type", "code", "message" } }`: 400 `idempotency_error` for a key with
 * another request, 409 `idempotency_key_in_use` for one in progress.
 */
export const stripeProfile: HttpProfile = {
  problem(problem) {
    const { status, type, code } = shaped(problem, STRIPE, {
      type: problem.status < 500 ? "invalid_request_error" : "api_error",
    });
    return { status, body: { error: { type, code, message: messageOf(problem) } }, contentType: JSON_TYPE };
  },
};

const ACP: Changes = {
  IDEMPOTENCY_KEY_MISSING: { code: "idempotency_key_required" },
  FINGERPRINT_MISMATCH: { code: "idempotency_conflict" },
  EXECUTION_IN_PROGRESS: { code: "idempotency_in_flight" },
};

/**
 * The Agentic Commerce Protocol: the key is required and repeated in every response, and errors are flat,
 * `{ "type", "code", "message" }`: 400 `idempotency_key_required`, 409 `idempotency_in_flight` with `Retry-After`, 422
 * `idempotency_conflict`. The protocol compares bodies as JSON values, and keeps keys for a day or more: also set
 * `fingerprint: (event) => JSON.parse(readBody(event))`.
 */
export const acpProfile: HttpProfile = {
  check({ whenKeyMissing, retentionSeconds = 86_400 }) {
    if (whenKeyMissing === "run") {
      throw new InvalidOptionError(
        "whenKeyMissing",
        "must be left out with `acpProfile`, which requires a key",
      );
    }
    if (retentionSeconds < 86_400) {
      throw new InvalidOptionError(
        "retentionSeconds",
        "must be at least 86400 with `acpProfile`",
        retentionSeconds,
      );
    }
  },
  headers: (header, name) => {
    const [key = "", ...others] = header(name);
    // Other characters would break the response.
    return others.length === 0 && /^[ -~]+$/.test(key) ? { [name]: key } : {};
  },
  problem(problem) {
    const { status, type, code } = shaped(problem, ACP, {
      type:
        problem.status < 500
          ? "invalid_request"
          : problem.status === 503
            ? "service_unavailable"
            : "processing_error",
    });
    return { status, body: { type, code, message: messageOf(problem) }, contentType: JSON_TYPE };
  },
};

const JSON_TYPE = "application/json";

function shaped({ code, status }: ProblemDetails, changes: Changes, defaults: { readonly type: string }) {
  return { ...defaults, status, code: code.toLowerCase(), ...changes[code] } as {
    readonly type: string;
    readonly status: number;
    readonly code: string;
  };
}

const messageOf = ({ detail, title }: ProblemDetails) => detail ?? title;
