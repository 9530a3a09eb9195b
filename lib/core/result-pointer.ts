/** A pointer to a result in a bucket: the record's result text then says where the result is. */
import { IN_BUCKET } from "./outcome.ts";
import type { StoredResult } from "./record.ts";

export interface ResultPointer {
  readonly bucket: string;
  readonly key: string;
  /** The hash of the object's text, in hex. */
  readonly sha256: string;
  readonly bytes: number;
}

export const pointerText = ({ bucket, key, sha256, bytes }: ResultPointer): string =>
  IN_BUCKET + JSON.stringify([bucket, key, sha256, bytes]);

/** `undefined` for any other text. */
export function readPointer(text: string): ResultPointer | undefined {
  if (!text.startsWith(IN_BUCKET)) return undefined;
  try {
    const [bucket, key, sha256, bytes] = JSON.parse(text.slice(IN_BUCKET.length));
    return { bucket: `${bucket}`, key: `${key}`, sha256: `${sha256}`, bytes: Number(bytes) };
  } catch {
    // Another writer's text: no bucket has this name.
    return { bucket: "", key: "", sha256: "", bytes: 0 };
  }
}

/** Which bucket has the result, and its size, as the store of the handler or the store below it returns it. */
export function bucketOf(
  result: StoredResult | undefined,
): Pick<ResultPointer, "bucket" | "bytes"> | undefined {
  if (result?.in === "item") return result.inBucket;
  const pointer = result?.in === "record" ? readPointer(result.text) : undefined;
  return pointer && { bucket: pointer.bucket, bytes: pointer.bytes };
}
