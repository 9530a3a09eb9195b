/** Reads what the AWS SDK is about to send. */
import type { SdkRequest } from "./scene.ts";

export function headerOf({ headers }: SdkRequest, name: string): string | undefined {
  return Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
}

export function bodyText({ body }: SdkRequest): string {
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : String(body ?? "");
}

/** Such as 2 of `attempt=2; max=3`. */
export function attemptOf(request: SdkRequest): number | undefined {
  const attempt = /attempt=(\d+)/.exec(headerOf(request, "amz-sdk-request") ?? "")?.[1];
  return attempt === undefined ? undefined : Number(attempt);
}

export function urlOf({ protocol, hostname, port, path }: SdkRequest): URL {
  return new URL(`${protocol}//${hostname}${port ? `:${port}` : ""}${path}`);
}
