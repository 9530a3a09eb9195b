/** The fingerprint decides whether two calls carry the same request: raw bytes as they are, objects by RFC 8785. */
import { LONE_SURROGATE, writeCanonical } from "./canonical-json.ts";
import { PayloadInvalidError } from "./errors.ts";
import { hashTuple } from "./identity.ts";
import type { Unfaithful } from "./json.ts";
import { isUnawaited } from "./unawaited.ts";

const FINGERPRINT = Symbol.for("onceonly.fingerprint");

/**
 * A ready-made fingerprint, which a fingerprinter can return instead of a payload. Every stored fingerprint begins with its
 * version, and two versions never compare equal: 1 for payloads, 2 for the parts of a request.
 */
export class Fingerprint {
  readonly text: string;

  /** Any copy of the package reads it by this name: the text contains its version. */
  get [FINGERPRINT](): string {
    return this.text;
  }

  /** The parts in order; `kind` says which parts they are. */
  constructor(kind: string, ...parts: readonly (string | Uint8Array)[]) {
    this.text = `2:${hashTuple("onceonly/fingerprint/2", kind, ...parts)}`;
  }
}

/**
 * SHA-256 of a payload, with its version. Strings and byte arrays are hashed byte for byte; anything else as canonical JSON
 * (RFC 8785), so that the order of names doesn't matter. Unicode is not normalised. A `Fingerprint` stays as it is.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`) for values that JSON can't represent faithfully.
 */
export function fingerprintOf(payload: unknown): string {
  const made = (payload as { readonly [FINGERPRINT]?: string } | null | undefined)?.[FINGERPRINT];
  if (made !== undefined) return made;
  if (payload === undefined) return tagged("none", "");
  if (typeof payload === "string" && !payload.isWellFormed()) {
    throw unfaithful({ path: "$", why: LONE_SURROGATE });
  }
  if (typeof payload === "string" || payload instanceof Uint8Array) return tagged("raw", payload);
  return tagged("json", canonicalJson(payload));
}

/**
 * The fingerprint of an input under each accepted way to make one.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`) also if a fingerprinter returns `undefined`, such as for a misspelt field:
 * every payload would count as the same.
 */
export function fingerprintsOf(
  fingerprinters: readonly ((input: unknown) => unknown)[],
  input: unknown,
): readonly string[] {
  return fingerprinters.map((fingerprinter) => {
    const made = fingerprinter(input);
    if (made !== undefined || input === undefined) return fingerprintOf(made);
    throw new PayloadInvalidError(
      "`fingerprint` returned undefined, so all payloads would count as the same: return the part to compare, or an empty string to compare nothing",
    );
  });
}

function tagged(kind: string, content: string | Uint8Array): string {
  return `1:${hashTuple("onceonly/fingerprint/1", kind, content)}`;
}

/**
 * The same text for equal payloads, whatever the order of their names (RFC 8785); if it is long, its bytes in UTF-8.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`) for values that JSON can't represent faithfully.
 */
export function canonicalJson(payload: unknown): string | Uint8Array {
  if (isUnawaited(payload)) {
    throw new PayloadInvalidError(
      "can't compute the fingerprint of the payload: `fingerprint` returned a promise, and it isn't awaited",
    );
  }
  return writeCanonical(payload, unfaithful);
}

/** @throws PayloadInvalidError (`PAYLOAD_INVALID`) for values that JSON can't represent faithfully. */
export function checkFaithful(payload: unknown): void {
  if (payload !== undefined) writeCanonical(payload, unfaithful);
}

function unfaithful({ path, why }: Unfaithful): PayloadInvalidError {
  return new PayloadInvalidError(
    `can't compute the fingerprint of the payload: ${path} is ${why}`,
    // Member names may be secrets too.
    `the payload can't be compared with a retry: one of its values is ${why}`,
  );
}
