/** The scene of one invocation on a host: its time, its randomness, and its requests. */
import type { Exchange } from "./exchange.ts";
import type { Host } from "./host.ts";
import type { Network } from "./network.ts";
import { refusal, type Scene, type SdkHttpRequest, type SdkHttpResponse, within } from "./scene.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { Services } from "./services.ts";
import type { Trace } from "./trace.ts";

export interface HostSceneOptions {
  readonly host: Host;
  readonly invocation: number;
  readonly network: Network;
  readonly services: Services;
  readonly trace: Trace;
  readonly onFailure: (error: unknown) => void;
}

export class HostScene implements Scene {
  readonly #options: HostSceneOptions;
  /** Timers and requests that haven't ended. */
  #open = 0;
  #whenEmpty: (() => void) | undefined;

  constructor(options: HostSceneOptions) {
    this.#options = options;
  }

  get owner(): Host {
    return this.#options.host;
  }

  get random(): SeededRandom {
    return this.owner.random;
  }

  now(): number {
    return this.owner.time.now() + this.owner.skewMs;
  }

  elapsed(): number {
    return this.owner.time.now() - this.owner.startedAt;
  }

  after(ms: number, fire: () => void): () => void {
    let isCancelled = false;
    const close = this.#opened();
    const run = () => {
      if (isCancelled) return;
      try {
        within(this, fire);
      } catch (error) {
        this.fail(error);
      } finally {
        close();
      }
    };
    const cancel = this.owner.time.after(ms, () => this.owner.deliver(run));
    return () => {
      isCancelled = true;
      close();
      cancel();
    };
  }

  ask<Answer>(exchange: Exchange<Answer>): Promise<Answer> {
    const { network, host, invocation } = this.#options;
    return network.ask(host, invocation, exchange).finally(this.#opened());
  }

  /** Resolves when Node's event loop would be empty: no timer and no request of this invocation is left. */
  untilEmpty(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenEmpty = resolve;
      this.#lookLater();
    });
  }

  #opened(): () => void {
    let isOpen = true;
    this.#open++;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#open--;
      this.#lookLater();
    };
  }

  /** What is ready runs first, and may open something else. */
  #lookLater(): void {
    if (this.#open > 0 || !this.#whenEmpty) return;
    const look = () => {
      if (this.#open === 0) this.#whenEmpty?.();
    };
    this.owner.time.after(0, () => this.owner.deliver(look));
  }

  onEnd(listener: () => void): () => void {
    return this.owner.onDeath(listener);
  }

  async fetch(request: Request): Promise<Response> {
    const exchange = await this.#known(this.#options.services.httpExchange(request));
    return unlessAborted(
      request.signal,
      () => this.ask({ ...exchange, signal: request.signal }),
      (reason) => reason,
    );
  }

  send(request: SdkHttpRequest, signal: AbortSignal | undefined): Promise<SdkHttpResponse> {
    const { services } = this.#options;
    return unlessAborted(
      signal,
      async () => this.ask({ ...(await this.#known(services.sdkExchange(request))), signal }),
      abortError,
    );
  }

  refuse(what: string): Error {
    const error = refusal(what);
    this.#noteRefused(error.message);
    return error;
  }

  fail(error: unknown): void {
    this.#options.onFailure(error);
  }

  /** A handler may swallow the error of a request that the simulation does not know: the trace names it. */
  async #known<T>(exchange: Promise<T>): Promise<T> {
    try {
      return await exchange;
    } catch (error) {
      const { cause, message } = Object(error) as Error;
      this.#noteRefused(cause instanceof Error ? cause.message : message);
      throw error;
    }
  }

  #noteRefused(text: string): void {
    const { host, invocation, trace } = this.#options;
    trace.note({ kind: "refused", hostId: host.id, invocation, text });
  }
}

function abortError(): Error {
  return Object.assign(new Error("Request aborted"), { name: "AbortError" });
}

/** A caller that aborts gets an error immediately, although the service may still execute the request. */
async function unlessAborted<T>(
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
  errorOf: (reason: unknown) => unknown,
): Promise<T> {
  if (signal === undefined) return work();
  if (signal.aborted) throw errorOf(signal.reason);
  return new Promise<T>((resolve, reject) => {
    const giveUp = () => reject(errorOf(signal.reason));
    signal.addEventListener("abort", giveUp, { once: true });
    work()
      .finally(() => signal.removeEventListener("abort", giveUp))
      .then(resolve, reject);
  });
}
