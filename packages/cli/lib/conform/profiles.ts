/** What each convention says about the statuses and bodies of refusals: the ones that onceonly's own profiles follow. */
import type { Answer } from "./send.ts";

export type Refusal = "missing" | "mismatch" | "inProgress";

export interface Convention {
  /** Keys are RFC 9651 strings, in double quotes. */
  readonly isQuoted: boolean;
  /** A request without a key must be refused. */
  readonly requiresKey: boolean;
  readonly statuses: Readonly<Record<Refusal, number>>;
  /** What else is wrong with a refusal that has the right status: `undefined` if nothing is. */
  fault?(refusal: Refusal, answer: Answer): string | undefined;
  /** The key is repeated in every response. */
  readonly repeatsKey?: true;
}

const ACP_CODES: Readonly<Record<Refusal, string>> = {
  missing: "idempotency_key_required",
  mismatch: "idempotency_conflict",
  inProgress: "idempotency_in_flight",
};

export const CONVENTIONS: Readonly<Record<string, Convention>> = {
  // https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07
  "ietf-07": {
    isQuoted: true,
    requiresKey: true,
    statuses: { missing: 400, mismatch: 422, inProgress: 409 },
  },
  // https://docs.stripe.com/api/idempotent_requests
  stripe: {
    isQuoted: false,
    requiresKey: false,
    statuses: { missing: 400, mismatch: 400, inProgress: 409 },
    fault(refusal, { body }) {
      const { error } = jsonObject(body) as { error?: { type?: unknown } };
      return refusal === "missing" || error?.type === "idempotency_error"
        ? undefined
        : "its error.type isn't idempotency_error";
    },
  },
  // https://github.com/agentic-commerce-protocol/agentic-commerce-protocol
  acp: {
    isQuoted: false,
    requiresKey: true,
    repeatsKey: true,
    statuses: { missing: 400, mismatch: 422, inProgress: 409 },
    fault(refusal, { body, headers }) {
      if ((jsonObject(body) as { code?: unknown }).code !== ACP_CODES[refusal])
        return `its code isn't ${ACP_CODES[refusal]}`;
      return refusal === "inProgress" && headers["retry-after"] === undefined
        ? "it has no Retry-After"
        : undefined;
    },
  },
};

/** Empty if the text is no JSON object. */
export function jsonObject(text: string): object {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
