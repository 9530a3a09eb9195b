/** Sizes, as near as it matters to how DynamoDB counts them: names and values in UTF-8. */

/** The largest item. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html */
export const MAX_ITEM_BYTES = 409_600;

/** Counts text and binaries exactly, and anything else as one byte: never more than DynamoDB counts for plain values. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 1;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  let bytes = 0;
  for (const [name, inner] of Object.entries(value))
    bytes += (Array.isArray(value) ? 1 : sizeOf(name)) + sizeOf(inner);
  return bytes;
}
