/** The bytes of a request's body on Node, as far as something has kept them. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { otherCopies, shared } from "../core/copies.ts";
import { InvalidOptionError } from "../core/errors.ts";

const kept = shared("bodies", () => new WeakMap<object, Uint8Array>());

/**
 * For `verify` of a body parser: `express.json({ verify: keepBody })`. The middleware then knows the bytes that the parser has
 * read.
 */
export function keepBody(req: IncomingMessage, _res: unknown, bytes: Uint8Array): void {
  kept.set(req, bytes);
}

/** A request, and what parsers leave there: Nest (`rawBody: true`) and others the bytes, `express.raw` the bytes as the body. */
export interface ParsedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body?: unknown;
  readonly rawBody?: unknown;
}

/**
 * @param advice what to do for a body whose bytes are not known; without advice that is no error
 * @throws InvalidOptionError (`INVALID_OPTION`) for a body that was read, and of which nothing has kept the bytes.
 */
export function readKept(request: ParsedRequest, advice?: string): Uint8Array {
  const { body, rawBody } = request;
  const known = kept.get(request) ?? (typeof rawBody === "string" ? Buffer.from(rawBody) : (rawBody ?? body));
  if (known instanceof Uint8Array) return known;
  if (advice === undefined || !hasBody(request)) return new Uint8Array();
  const rule = `needs the bytes of the body: ${advice}${otherCopies("bodies")}`;
  throw new InvalidOptionError("fingerprint", rule, undefined);
}

function hasBody({ headers, ...request }: ParsedRequest): boolean {
  if (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0) return true;
  // HTTP/2 needs neither of them.
  const { stream } = request as { readonly stream?: { readonly endAfterHeaders?: boolean } };
  return stream?.endAfterHeaders === false && headers["content-length"] === undefined;
}
