/**
 * The scene in which code runs: on a host of a simulation, or outside of the hosts, as the test does.
 * Promises and callbacks keep their scene.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Exchange } from "./exchange.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** A request in the form in which the AWS SDK's client gives it to its request handler. */
export interface SdkHttpRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly path: string;
  /** The parts that the path doesn't hold already. */
  readonly query?: Readonly<Record<string, string | readonly string[] | null>> | undefined;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface SdkHttpResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
  /** Whether clients of the SDK read the body as a stream. */
  readonly isStreamed?: boolean | undefined;
}

/** Patched functions ask the scene instead of the system. */
export interface Scene {
  /** The owner of the state of SDK clients, which is kept apart for each owner. */
  readonly owner: object;
  readonly random: SeededRandom;
  /** Epoch ms on this host's clock. */
  now(): number;
  /** Milliseconds since the host began. */
  elapsed(): number;
  /** Calls `fire` after so many milliseconds, unless the returned function is called before. */
  after(ms: number, fire: () => void): () => void;
  /** Makes a request, on a host with delays and faults. */
  ask<Answer>(exchange: Exchange<Answer>): Promise<Answer>;
  /** Calls `listener` when the host ends, unless the returned function is called before that. */
  onEnd(listener: () => void): () => void;
  fetch(request: Request): Promise<Response>;
  send(request: SdkHttpRequest, signal: AbortSignal | undefined): Promise<SdkHttpResponse>;
  /** Notes that a connection was refused, and returns the error for its caller. */
  refuse(what: string): Error;
  /** Reports an error that no code waits for. */
  fail(error: unknown): void;
}

/** All copies of this module share the storage: patches of one copy know the scenes of another. */
const SCENES = Symbol.for("onceonly.scenes");
const shared = AsyncLocalStorage as { [SCENES]?: AsyncLocalStorage<Scene | undefined> };
shared[SCENES] ??= new AsyncLocalStorage();
const storage = shared[SCENES];

/** `undefined` outside of every simulation: patched functions then use the system. */
export function currentScene(): Scene | undefined {
  return storage.getStore();
}

/** The error of a connection that the simulation cannot see. */
export function refusal(what: string): Error {
  return Object.assign(
    new Error(
      `the simulation refuses ${what} because it can't see its requests: reach the other system by fetch or node:http and declare it (explore: outside; Simulator: serve), or mock the client`,
    ),
    { code: "REFUSED_BY_SIMULATION" },
  );
}

export function within<T>(scene: Scene | undefined, work: () => T): T {
  return storage.run(scene, work);
}
