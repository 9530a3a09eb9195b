/** Requests to another system as exchanges. */
import { operationOf } from "../aws/aws-operation.ts";
import type { Exchange } from "./exchange.ts";

/** Another system outside of AWS: hosts of the simulation see only its answers. */
export type Service = (request: Request) => Response | Promise<Response>;

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

export function httpExchange(
  { method, url, headers, body }: HttpRequest,
  service: (request: Request) => Promise<Response>,
): Exchange<Response> {
  const hasBody = method !== "GET" && method !== "HEAD";
  return {
    io: {
      service: "http",
      operation: operationOf({ method, url, headers, body }),
      target: url.origin + url.pathname,
      input: {
        headers: Object.fromEntries(headers),
        body: new TextDecoder().decode(body),
        search: url.search,
      },
      attempt: undefined,
    },
    run: () => service(new Request(url, { method, headers, ...(hasBody && { body }) })),
    broken: () => {
      const cause = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
      return new TypeError("fetch failed", { cause });
    },
    throttled: async () =>
      new Response("too many requests", { status: 429, headers: { "retry-after": "1" } }),
    refused: async ({ code, status = 500 }) => new Response(code, { status }),
    describe: ({ status }) => String(status),
  };
}
