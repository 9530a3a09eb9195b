// The part of node:crypto that the library's HTTP wrapper needs, in a browser.
import { Buffer } from "./buffer.ts";
import { sha256 } from "./sha256.ts";

export function hash(_algorithm: "sha256", data: string | Uint8Array, encoding: "base64url" | "hex"): string {
  return Buffer.from(sha256(Buffer.from(data))).toString(encoding);
}

export function createHash(algorithm: "sha256") {
  const parts: Uint8Array[] = [];
  const made = {
    update(data: string | Uint8Array) {
      parts.push(Buffer.from(data));
      return made;
    },
    digest: (encoding: "base64url" | "hex") => hash(algorithm, Buffer.concat(parts), encoding),
  };
  return made;
}

export const randomUUID = () => globalThis.crypto.randomUUID();
