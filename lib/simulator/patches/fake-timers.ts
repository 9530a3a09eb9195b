/** Fake timers of a test runner would stand between a simulation and its time: they are told apart, and refused. */
import { currentScene } from "../scene.ts";
import { sceneTimerOf } from "./scene-timer.ts";

/** By marks of their own: `@sinonjs/fake-timers` (vitest, jest), jest's legacy timers, `node:test`. */
const MARKS = ["clock", "isFake", "isMock", "_isMockFunction"];
const FAKED = ["Date", "setTimeout", "setInterval", "setImmediate", "queueMicrotask"] as const;

/** @throws Error while fake timers are on */
export function refuseFakeTimers(): void {
  const faked = FAKED.find((name) => MARKS.some((mark) => Object.hasOwn(globalThis[name], mark)));
  if (faked !== undefined) throw new Error(adviceFor(faked));
}

/**
 * Within a scene.
 * @throws Error when its time does not get through to dates and timers
 */
export function checkPatches(): void {
  const scene = currentScene();
  if (scene === undefined || Date.now() !== scene.now()) throw new Error(adviceFor("Date"));
  const timer: unknown = setTimeout(() => undefined, 0);
  clearTimeout(timer as NodeJS.Timeout);
  if (sceneTimerOf(timer) === undefined) throw new Error(adviceFor("setTimeout"));
}

function adviceFor(name: string): string {
  return `${name} is not what the simulator put in its place, as with fake timers of a test runner: put the real ones back before, with vi.useRealTimers() or jest.useRealTimers()`;
}
