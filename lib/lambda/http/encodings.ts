/** Compressed responses: stored without their encoding, because the caller of a replay may not accept it. */
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import { type Headers, without } from "./replayed-headers.ts";

type Decode = (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array;

export const DECODERS: Readonly<Record<string, Decode | undefined>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** Lambda sends 6 MB at most, which is 4.5 MB in base64. */
const MAX_BYTES = 4_500_000;

interface Encoded {
  readonly headers?: Headers;
  readonly multiValueHeaders?: Headers;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

/** Unchanged if it isn't compressed, by an unknown encoding, or too large without it. */
export function withoutEncoding<Response extends Encoded>(response: Response): Response {
  const { headers, multiValueHeaders, body, isBase64Encoded } = response;
  const [, encoding] =
    Object.entries({ ...headers, ...multiValueHeaders }).find(([name]) => /^content-encoding$/i.test(name)) ??
    [];
  const decode = isBase64Encoded && DECODERS[`${encoding}`.toLowerCase()];
  if (!decode) return response;
  const kept = (all?: Headers) => all && without(all, (name) => /^content-(encoding|length)$/.test(name));
  try {
    const bytes = decode(Buffer.from(`${body}`, "base64"), { maxOutputLength: MAX_BYTES });
    return {
      ...response,
      headers: kept(headers) as Headers,
      multiValueHeaders: kept(multiValueHeaders) as Headers,
      body: Buffer.from(bytes).toString("base64"),
    };
  } catch {
    return response;
  }
}
