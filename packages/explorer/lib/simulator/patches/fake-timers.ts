/** Recognizes and refuses fake timers of a test runner, which would hide the simulation's time. */
import { currentScene } from "../scene.ts";
import { sceneTimerOf } from "./scene-timer.ts";

/** By their marks: `@sinonjs/fake-timers` (vitest, jest), jest's legacy timers, `node:test`. */
const MARKS = ["clock", "isFake", "isMock", "_isMockFunction"];
const FAKED = ["Date", "setTimeout", "setInterval", "setImmediate", "queueMicrotask"] as const;

/** @throws Error while fake timers are on */
export function refuseFakeTimers(): void {
  const faked = FAKED.find((name) => MARKS.some((mark) => Object.hasOwn(globalThis[name], mark)));
  if (faked !== undefined) throw new Error(adviceFor(faked));
}

/**
 * Call this within a scene.
 * @throws Error when the scene's time does not reach dates and timers
 */
export function checkPatches(): void {
  const scene = currentScene();
  if (scene === undefined || Date.now() !== scene.now()) throw new Error(adviceFor("Date"));
  const timer: unknown = setTimeout(() => undefined, 0);
  clearTimeout(timer as NodeJS.Timeout);
  if (sceneTimerOf(timer) === undefined) throw new Error(adviceFor("setTimeout"));
}

function adviceFor(name: string): string {
  return `${name} has been replaced, probably by a test runner's fake timers: restore the real ones first, with vi.useRealTimers() or jest.useRealTimers()`;
}
