/** The body of an HTTP request as text. */
import { PayloadInvalidError } from "../../core/errors.ts";
import type { HttpRequestEvent } from "../options.ts";

/**
 * The body of an HTTP request as its sender wrote it: decoded where `isBase64Encoded` says so, and empty where there is none.
 * A signature over the body holds for this text, and `JSON.parse` reads it.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`) for bytes that are not UTF-8, and for a body that a parser has been at.
 */
export function readBody({ body, isBase64Encoded }: HttpRequestEvent): string {
  const text: unknown = body ?? "";
  if (typeof text !== "string") {
    throw new PayloadInvalidError("the body is no text: read it before a body parser does");
  }
  if (!isBase64Encoded) return text;
  try {
    // With the mark of its byte order, where there is one: a signature counts it.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(text, "base64"));
  } catch {
    throw new PayloadInvalidError(
      "the body is not UTF-8: decode `event.body` from base64 yourself",
      "the body isn't UTF-8",
    );
  }
}
