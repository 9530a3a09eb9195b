/**
 * Timers of a scene run on its time: the global ones, those of `node:timers`, and the signals of
 * `AbortSignal.timeout`.
 */
import timers from "node:timers";
import { currentScene } from "../scene.ts";
import { replace } from "./replace.ts";
import { SceneTimer, sceneTimerOf } from "./scene-timer.ts";

type TimerCallback = (...parameters: unknown[]) => void;

export function patchTimers(): void {
  for (const name of ["setTimeout", "setInterval"] as const) {
    const real = globalThis[name] as (
      callback: TimerCallback,
      ms?: number,
      ...parameters: unknown[]
    ) => unknown;
    const patched = function setTimer(
      callback: TimerCallback,
      ms?: number,
      ...parameters: unknown[]
    ): unknown {
      const scene = currentScene();
      if (scene === undefined) return real(callback, ms, ...parameters);
      if (typeof callback !== "function") throw new TypeError('the "callback" argument must be a function');
      return new SceneTimer(scene, () => callback(...parameters), ms, name === "setInterval");
    };
    // util.promisify finds the promise version of timers by a symbol.
    Object.defineProperties(patched, Object.getOwnPropertyDescriptors(real));
    replaceTimer(name, patched);
  }
  for (const name of ["clearTimeout", "clearInterval"] as const) {
    const real = globalThis[name] as (timer: unknown) => void;
    replaceTimer(name, function clearTimer(timer: unknown): void {
      const ours = sceneTimerOf(timer);
      if (ours) ours.close();
      else real(timer);
    });
  }
  patchTimeoutSignals();
}

function replaceTimer(name: string, patched: unknown): void {
  replace(globalThis, name, patched);
  replace(timers, name, patched);
}

function patchTimeoutSignals(): void {
  const real = AbortSignal.timeout.bind(AbortSignal);
  replace(AbortSignal, "timeout", function timeoutSignal(ms: number): AbortSignal {
    const scene = currentScene();
    if (scene === undefined) return real(ms);
    const controller = new AbortController();
    scene.after(ms, () => {
      controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
    });
    return controller.signal;
  });
}
