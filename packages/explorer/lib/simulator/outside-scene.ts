/**
 * The scene outside of hosts: the test itself, and the services it provides. It has virtual time, and no
 * faults.
 */
import type { Exchange } from "./exchange.ts";
import { refusal, type Scene, type SdkHttpRequest, type SdkHttpResponse, within } from "./scene.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { Services } from "./services.ts";
import type { VirtualTime } from "./virtual-time.ts";

export class OutsideScene implements Scene {
  readonly owner = {};
  readonly random: SeededRandom;
  readonly #time: VirtualTime;
  readonly #services: Services;
  readonly #onFailure: (error: unknown) => void;

  constructor(
    time: VirtualTime,
    random: SeededRandom,
    services: Services,
    onFailure: (error: unknown) => void,
  ) {
    this.#time = time;
    this.random = random;
    this.#services = services;
    this.#onFailure = onFailure;
  }

  now(): number {
    return this.#time.now();
  }

  elapsed(): number {
    return this.#time.now() - this.#time.startAt;
  }

  after(ms: number, fire: () => void): () => void {
    return this.#time.after(ms, () => within(this, fire));
  }

  ask<Answer>(exchange: Exchange<Answer>): Promise<Answer> {
    return exchange.run();
  }

  onEnd(): () => void {
    return () => {};
  }

  async fetch(request: Request): Promise<Response> {
    return (await this.#services.httpExchange(request)).run();
  }

  async send(request: SdkHttpRequest): Promise<SdkHttpResponse> {
    return (await this.#services.sdkExchange(request)).run();
  }

  refuse(what: string): Error {
    return refusal(what);
  }

  fail(error: unknown): void {
    this.#onFailure(error);
  }
}
