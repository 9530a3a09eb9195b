/** `node:timers/promises` on the time of the scene. */
import promises from "node:timers/promises";
import { currentScene, type Scene } from "../scene.ts";
import { replace } from "./replace.ts";

interface Options {
  readonly signal?: AbortSignal | undefined;
}

export function patchTimerPromises(): void {
  const real = { ...promises };
  const sleep = <T>(ms?: number, value?: T, options?: Options): Promise<T> => {
    const scene = currentScene();
    return scene
      ? sleepIn(scene, ms ?? 1, value as T, options?.signal)
      : (real.setTimeout(ms, value, options as object) as Promise<T>);
  };
  async function* ticks<T>(ms?: number, value?: T, options?: Options): AsyncGenerator<T> {
    const scene = currentScene();
    if (scene === undefined)
      return yield* real.setInterval(ms, value, options as object) as AsyncGenerator<T>;
    yield* ticksIn(scene, ms ?? 1, value as T, options?.signal);
  }
  const realWait = promises.scheduler.wait.bind(promises.scheduler);
  replace(promises, "setTimeout", sleep);
  replace(promises, "setInterval", ticks);
  replace(promises.scheduler, "wait", (ms: number, options?: Options) =>
    currentScene() ? sleep(ms, undefined, options) : realWait(ms, options as object),
  );
}

/**
 * Ticks come at their times, even while the reader is still busy; the reader then gets them one after the
 * other.
 */
async function* ticksIn<T>(
  scene: Scene,
  ms: number,
  value: T,
  signal: AbortSignal | undefined,
): AsyncGenerator<T> {
  const interval = Math.max(1, Math.trunc(ms));
  for (let next = scene.elapsed() + interval; ; next += interval) {
    if (scene.elapsed() < next || signal?.aborted) {
      await sleepIn(scene, next - scene.elapsed(), undefined, signal);
    }
    yield value;
  }
}

function sleepIn<T>(scene: Scene, ms: number, value: T, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const refuse = () => {
      cancel();
      const cause = signal?.reason;
      reject(
        Object.assign(new Error("The operation was aborted", { cause }), {
          name: "AbortError",
          code: "ABORT_ERR",
        }),
      );
    };
    let cancel: () => void = () => undefined;
    if (signal?.aborted) return refuse();
    cancel = scene.after(ms, () => {
      signal?.removeEventListener("abort", refuse);
      resolve(value);
    });
    signal?.addEventListener("abort", refuse, { once: true });
  });
}
