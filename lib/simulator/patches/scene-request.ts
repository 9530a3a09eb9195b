/** The request that `http.request` returns in a scene: like Node's own, but without a connection. */
import type { OutgoingHttpHeader, RequestOptions } from "node:http";
import { Readable, Writable } from "node:stream";
import type { Scene, SdkHttpResponse } from "../scene.ts";

export class SceneRequest extends Writable {
  readonly method: string;
  readonly path: string;
  readonly protocol: string;
  readonly host: string;
  readonly reusedSocket = false;
  readonly socket = null;
  readonly connection = null;
  aborted = false;
  headersSent = false;
  readonly #scene: Scene;
  readonly #port: number | undefined;
  readonly #headers = new Map<string, OutgoingHttpHeader>();
  readonly #chunks: Buffer[] = [];
  readonly #givenUp = new AbortController();
  #cancelTimer: () => void = () => undefined;

  constructor(scene: Scene, options: RequestOptions) {
    // The connection ends with the answer.
    super({ autoDestroy: false });
    this.#scene = scene;
    this.method = (options.method ?? "GET").toUpperCase();
    this.path = options.path ?? "/";
    this.protocol = options.protocol ?? "http:";
    const host = options.hostname ?? options.host ?? "localhost";
    // URLs have brackets around an IPv6 address, options have none.
    this.host = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
    const port = Number(options.port ?? 0);
    this.#port = port === (this.protocol === "https:" ? 443 : 80) ? undefined : port || undefined;
    for (const [name, value] of Object.entries(
      Object(options.headers) as Record<string, OutgoingHttpHeader>,
    )) {
      if (value !== undefined) this.setHeader(name, value);
    }
    if (options.auth)
      this.setHeader("authorization", `Basic ${Buffer.from(options.auth).toString("base64")}`);
    if (options.timeout) this.setTimeout(options.timeout);
    options.signal?.addEventListener("abort", () => this.destroy(options.signal?.reason as Error), {
      once: true,
    });
  }

  setHeader(name: string, value: OutgoingHttpHeader): this {
    this.#headers.set(name.toLowerCase(), value);
    return this;
  }

  getHeader(name: string): OutgoingHttpHeader | undefined {
    return this.#headers.get(name.toLowerCase());
  }

  getHeaders(): Record<string, OutgoingHttpHeader> {
    return Object.fromEntries(this.#headers);
  }

  getHeaderNames(): string[] {
    return [...this.#headers.keys()];
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase());
  }

  removeHeader(name: string): void {
    this.#headers.delete(name.toLowerCase());
  }

  flushHeaders(): void {}

  setNoDelay(): void {}

  setSocketKeepAlive(): void {}

  /** Reports that no data came for this time; the caller decides what follows. */
  setTimeout(ms: number, listener?: () => void): this {
    this.#cancelTimer();
    if (listener) this.once("timeout", listener);
    if (ms > 0) this.#cancelTimer = this.#scene.after(ms, () => this.emit("timeout"));
    return this;
  }

  abort(): void {
    this.aborted = true;
    this.destroy();
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk);
    done();
  }

  override _final(done: () => void): void {
    this.headersSent = true;
    const headers = Object.fromEntries([...this.#headers].map(([name, value]) => [name, `${value}`]));
    const { protocol, host: hostname, path, method } = this;
    const sent = {
      protocol,
      hostname,
      port: this.#port,
      path,
      method,
      headers,
      body: Buffer.concat(this.#chunks),
    };
    this.#scene.send(sent, this.#givenUp.signal).then(
      (answer) => this.#respond(answer),
      (error: unknown) => this.destroy(asOfNode(error as Error)),
    );
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#cancelTimer();
    this.#givenUp.abort();
    done(error);
  }

  #respond({ statusCode, headers, body }: SdkHttpResponse): void {
    if (this.destroyed) return;
    this.#cancelTimer();
    const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
    const response = Object.assign(
      Readable.from(body.length > 0 ? [Buffer.from(body)] : [], { objectMode: false }),
      {
        statusCode,
        statusMessage: "",
        headers: Object.fromEntries(lower),
        rawHeaders: lower.flat(),
        httpVersion: "1.1",
        complete: true,
        req: this,
      },
    );
    response.once("end", () => this.destroy());
    // Data without a reader is discarded.
    if (!this.emit("response", response)) response.resume();
  }
}

/** Unwraps the error of `fetch`, because Node's clients report the cause itself. */
function asOfNode(error: Error): Error {
  const { cause } = error;
  return cause instanceof Error && "code" in cause ? cause : error;
}
