/** Sends requests over kept-alive connections, each within its time limit. */
import type * as http from "node:http";
import type { Socket } from "node:net";
import type { HttpAnswer } from "../dynamodb/wire/json.ts";
import { CLIENT_STATE, type ClientState } from "./client-state.ts";
import { httpModule } from "./http-module.ts";

export interface TransportOptions {
  readonly connectionTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly maxSockets: number;
}

/** There was no readable response. Names and codes are the SDK's. */
export class TransportError extends Error {
  override readonly name = "TimeoutError";
  readonly code: string;
  /** The connection was kept alive, and most likely was closed already: retry immediately on a new one. */
  readonly isStale: boolean;

  constructor(message: string, code: string, isStale = false, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.isStale = isStale;
  }
}

/** Codes of the system and of the parser. Certificates and invalid arguments have other codes. */
const OF_THE_WAY = /^(HPE_|E(?!RR_))/;

export class HttpTransport {
  readonly #module: Pick<typeof http, "request">;
  readonly #isSecure: boolean;
  readonly #agent: http.Agent;
  readonly #target: http.RequestOptions;
  readonly #options: TransportOptions;

  constructor({ protocol, hostname, port, pathname }: URL, state: ClientState, options: TransportOptions) {
    const module = httpModule(protocol);
    this.#module = module;
    this.#isSecure = protocol === "https:";
    this.#agent = new module.Agent({ keepAlive: true, maxSockets: options.maxSockets });
    this.#target = {
      agent: this.#agent,
      method: "POST",
      // Without the brackets around an IPv6 address in a URL.
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port: port || undefined,
      path: pathname,
      [CLIENT_STATE]: state,
    } as http.RequestOptions;
    this.#options = options;
  }

  /** Rejects with an `AbortError` once `signal` aborts. */
  post(
    headers: Readonly<Record<string, string>>,
    body: string,
    signal?: AbortSignal,
    path = this.#target.path,
  ): Promise<HttpAnswer> {
    const { connectionTimeoutMs, requestTimeoutMs } = this.#options;
    return new Promise((resolve, reject) => {
      const request = this.#module.request({ ...this.#target, path, headers, ...(signal && { signal }) });
      let connecting: NodeJS.Timeout | undefined;
      let isOver = false;

      const finish = (): void => {
        isOver = true;
        clearTimeout(timer);
        clearTimeout(connecting);
      };
      const fail = (error: unknown): void => {
        if (isOver) return;
        finish();
        const { code = "ECONNRESET", message } = error as NodeJS.ErrnoException;
        const isStale = request.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(code);
        if (isStale) this.#dropIdle();
        // If the certificate isn't accepted now, another try won't help.
        const isOfTheWay = !(error instanceof TransportError) && OF_THE_WAY.test(code);
        reject(isOfTheWay ? new TransportError(message, code, isStale, error) : error);
        request.destroy();
      };
      const failLate = (what: string, ms: number): NodeJS.Timeout =>
        // After a freeze the timer fires before an answer that has already arrived is read.
        setTimeout(() => setImmediate(fail, new TransportError(`${what} ${ms} ms`, "ETIMEDOUT")), ms);

      const timer = failLate("no response within", requestTimeoutMs);
      // With `on`: each comes once, or is ignored the second time, and `once` makes a wrapper for each.
      request.on("error", fail);
      request.on("socket", (socket: Socket) => {
        if (!socket.connecting) return;
        connecting = failLate("no connection within", connectionTimeoutMs);
        socket.once(this.#isSecure ? "secureConnect" : "connect", () => clearTimeout(connecting));
      });
      request.on("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", fail);
        response.on("end", () => {
          if (isOver) return;
          finish();
          const answer = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
          resolve({ statusCode: response.statusCode ?? 0, headers: response.headers, body: answer });
        });
      });
      request.end(body);
    });
  }

  /** Requests that are under way continue. */
  close(): void {
    this.#agent.destroy();
  }

  /** The service has closed one idle connection and so, most likely, all of them: a freeze affects all. */
  #dropIdle(): void {
    for (const sockets of Object.values(this.#agent.freeSockets)) {
      for (const socket of sockets ?? []) socket.destroy();
    }
  }
}
