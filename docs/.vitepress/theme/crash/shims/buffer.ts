// The part of Node's Buffer that the library's HTTP wrapper needs, in a browser.
class Bytes extends Uint8Array<ArrayBuffer> {
  override toString(encoding = "utf8"): string {
    const latin1 = String.fromCharCode(...this);
    if (encoding === "latin1") return latin1;
    if (encoding === "hex") return Array.from(this, (byte) => byte.toString(16).padStart(2, "0")).join("");
    if (encoding === "base64") return btoa(latin1);
    if (encoding === "base64url")
      return btoa(latin1).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    return new TextDecoder().decode(this);
  }
}

function from(data: string | ArrayLike<number>, encoding = "utf8"): Bytes {
  if (typeof data !== "string") return bytesOf(data);
  if (!/^base64/.test(encoding)) return bytesOf(new TextEncoder().encode(data));
  const latin1 = atob(data.replaceAll("-", "+").replaceAll("_", "/"));
  return bytesOf(Array.from(latin1, (sign) => sign.charCodeAt(0)));
}

function bytesOf(values: ArrayLike<number>): Bytes {
  const bytes = new Bytes(new ArrayBuffer(values.length));
  bytes.set(values);
  return bytes;
}

export const Buffer = {
  from,
  byteLength: (text: string) => new TextEncoder().encode(text).length,
  concat: (parts: readonly Uint8Array[]) => bytesOf(parts.flatMap((part) => [...part])),
};
