/** Reads the AWS SDK's HTTP requests, and makes the error of a broken connection. */
import type { SdkHttpRequest } from "./scene.ts";

export function headerOf({ headers }: SdkHttpRequest, name: string): string | undefined {
  return Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
}

export function bodyText({ body }: SdkHttpRequest): string {
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : String(body ?? "");
}

export function bodyBytes({ body }: SdkHttpRequest): Uint8Array<ArrayBuffer> {
  return body instanceof Uint8Array ? new Uint8Array(body) : new TextEncoder().encode(String(body ?? ""));
}

/** The request with its body's bytes; the body may be a stream. */
export async function withBytes(request: SdkHttpRequest): Promise<SdkHttpRequest> {
  const { body } = request;
  if (typeof Object(body)[Symbol.asyncIterator] !== "function") return request;
  const chunks: Buffer[] = [];
  for await (const chunk of body as AsyncIterable<Uint8Array | string>) chunks.push(Buffer.from(chunk));
  return { ...request, body: new Uint8Array(Buffer.concat(chunks)) };
}

/** The number 2 of `attempt=2; max=3`. */
export function attemptOf(request: SdkHttpRequest): number | undefined {
  const attempt = /attempt=(\d+)/.exec(headerOf(request, "amz-sdk-request") ?? "")?.[1];
  return attempt === undefined ? undefined : Number(attempt);
}

export function urlOf({ protocol, hostname, port, path, query = {} }: SdkHttpRequest): URL {
  const url = new URL(`${protocol}//${hostname}${port ? `:${port}` : ""}${path}`);
  for (const [name, values] of Object.entries(query)) {
    for (const value of [values ?? ""].flat()) url.searchParams.append(name, value);
  }
  return url;
}

/** An error like Node's; the SDK retries such a request. */
export function brokenConnection(): Error {
  return Object.assign(new Error("read ECONNRESET"), { name: "TimeoutError", code: "ECONNRESET" });
}
