/** The timer that `setTimeout` and `setInterval` return in a scene: like Node's, but on the scene's time. */
import { AsyncResource } from "node:async_hooks";
import type { Scene } from "../scene.ts";

const LONGEST_MS = 2 ** 31 - 1;
const byId = new Map<number, WeakRef<SceneTimer>>();
let ids = 0;

export class SceneTimer {
  readonly #scene: Scene;
  readonly #fire: () => void;
  readonly #ms: number;
  readonly #repeats: boolean;
  #id: number | undefined;
  #cancel: () => void = () => undefined;
  #hasRef = true;

  constructor(scene: Scene, fire: () => void, ms: unknown, repeats: boolean) {
    const asked = Number(ms ?? 1);
    this.#scene = scene;
    this.#fire = AsyncResource.bind(fire);
    // As in Node: a delay that is too long fires immediately.
    this.#ms = asked >= 1 && asked <= LONGEST_MS ? Math.trunc(asked) : 1;
    this.#repeats = repeats;
    this.refresh();
  }

  refresh(): this {
    this.#cancel();
    this.#cancel = this.#scene.after(this.#ms, () => {
      if (this.#repeats) this.refresh();
      else this.#forget();
      this.#fire();
    });
    return this;
  }

  close(): this {
    this.#cancel();
    this.#forget();
    return this;
  }

  ref(): this {
    this.#hasRef = true;
    return this;
  }

  unref(): this {
    this.#hasRef = false;
    return this;
  }

  hasRef(): boolean {
    return this.#hasRef;
  }

  [Symbol.toPrimitive](): number {
    // Far from the numbers of Node's own timers.
    this.#id ??= 2 ** 40 + ids++;
    byId.set(this.#id, new WeakRef(this));
    return this.#id;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #forget(): void {
    if (this.#id !== undefined) byId.delete(this.#id);
  }
}

/** The scene's timer; `undefined` for Node's own. */
export function sceneTimerOf(timer: unknown): SceneTimer | undefined {
  if (timer instanceof SceneTimer) return timer;
  const id = typeof timer === "string" ? Number(timer) : timer;
  return typeof id === "number" ? byId.get(id)?.deref() : undefined;
}
