/** Where code of a simulation runs: on one of its hosts, or outside of them, where the test is. Follows every continuation. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { SeededRandom } from "./seeded-random.ts";

/** A request as the AWS SDK hands it to what sends it. */
export interface SdkHttpRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface SdkHttpResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

/** What patched functions ask instead of the system. */
export interface Scene {
  /** Whose state it is: clients of the SDK keep some for each of them. */
  readonly owner: object;
  readonly random: SeededRandom;
  /** In epoch ms, as this host sees it. */
  now(): number;
  /** Milliseconds since the host began. */
  elapsed(): number;
  /** Calls `fire` in so many milliseconds, unless the function it answers is called before. */
  after(ms: number, fire: () => void): () => void;
  fetch(request: Request): Promise<Response>;
  send(request: SdkHttpRequest, signal: AbortSignal | undefined): Promise<SdkHttpResponse>;
  /** Something failed that nobody waits for. */
  fail(error: unknown): void;
}

const storage = new AsyncLocalStorage<Scene | undefined>();

/** `undefined` outside of every simulation: everything is as ever there. */
export function currentScene(): Scene | undefined {
  return storage.getStore();
}

export function within<T>(scene: Scene | undefined, work: () => T): T {
  return storage.run(scene, work);
}
