/** Compressed responses: stored without their encoding, because the caller of a replay may not accept it. */
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import { type Headers, without } from "./replayed-headers.ts";

type Decode = (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array;

export const DECODERS: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ["gzip", gunzipSync],
  ["deflate", inflateSync],
  ["br", brotliDecompressSync],
]);

/** Whether a header is about the compressed bytes. RFC 9530: both digests include the encoding. @param name in lower case */
export const isOfEncoded = (name: string): boolean =>
  /^(content-(encoding|length|digest|md5)|repr-digest)$/.test(name);

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
  const decode = isBase64Encoded && DECODERS.get(`${encoding}`.toLowerCase());
  if (!decode) return response;
  const kept = (all?: Headers) => all && without(all, isOfEncoded);
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
