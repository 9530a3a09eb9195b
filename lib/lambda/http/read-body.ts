/** The body of an HTTP request as text. */
import { PayloadInvalidError } from "../../core/errors.ts";
import type { HttpRequestEvent } from "../options.ts";

/**
 * Returns the body of an HTTP request as its sender wrote it: decoded if `isBase64Encoded` is true, and empty if there is
 * none. Verify signatures over this string, and parse it with `JSON.parse`.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`) for bytes that aren't UTF-8, and for a body that was already parsed.
 */
export function readBody({ body, isBase64Encoded }: HttpRequestEvent): string {
  const text: unknown = body ?? "";
  if (typeof text !== "string") {
    throw new PayloadInvalidError("the body isn't a string: use onceonly before the body parser");
  }
  if (!isBase64Encoded) return text;
  try {
    // Keeps a byte order mark, because a signature covers it.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(text, "base64"));
  } catch {
    throw new PayloadInvalidError(
      "the body is not UTF-8: decode `event.body` from base64 yourself",
      "the body isn't UTF-8",
    );
  }
}
