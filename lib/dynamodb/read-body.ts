/** Reads the body of an answer, whatever a request handler makes of it. */
import type { Readable } from "node:stream";

/** Of handlers that fetch. */
type WebBody = ReadableStream | Blob | string | undefined;

/** @throws what the stream fails with; the answer may be cut anywhere */
export async function readBody(body: unknown): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body;
  if (typeof (body as Readable | undefined)?.on === "function") return readStream(body as Readable);
  return new Uint8Array(await new Response(body as WebBody).arrayBuffer());
}

function readStream(stream: Readable): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let isOver = false;
    stream.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    stream.once("end", () => {
      isOver = true;
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
    stream.once("error", reject);
    stream.once("close", () => {
      if (!isOver) reject(Object.assign(new Error("the answer was cut off"), { code: "ECONNRESET" }));
    });
  });
}
