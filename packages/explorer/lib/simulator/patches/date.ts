/** `Date`, `performance.now()` and `process.hrtime()` return the time of the current scene. */
import { currentScene, type Scene } from "../scene.ts";
import { replace } from "./replace.ts";

/** In nanoseconds. */
const SECOND = 1_000_000_000n;

export function patchDate(): void {
  const RealDate = Date;
  const realNow = Date.now;
  replace(RealDate, "now", () => currentScene()?.now() ?? realNow());
  const SceneDate = new Proxy(RealDate, {
    construct(target, parameters, newTarget) {
      const scene = parameters.length === 0 ? currentScene() : undefined;
      return Reflect.construct(target, scene ? [scene.now()] : parameters, newTarget);
    },
    apply(target) {
      const scene = currentScene();
      return scene ? new target(scene.now()).toString() : target();
    },
  });
  // Code compares the constructor of a value with Date.
  replace(RealDate.prototype, "constructor", SceneDate);
  replace(globalThis, "Date", SceneDate);

  const realElapsed = performance.now.bind(performance);
  replace(performance, "now", () => currentScene()?.elapsed() ?? realElapsed());
  patchHrtime();
}

function patchHrtime(): void {
  const real = process.hrtime;
  const hrtime = (former?: [number, number]): [number, number] => {
    const scene = currentScene();
    if (scene === undefined) return real(former);
    const nanoseconds = nanosecondsOf(scene) - (former ? BigInt(former[0]) * SECOND + BigInt(former[1]) : 0n);
    return [Number(nanoseconds / SECOND), Number(nanoseconds % SECOND)];
  };
  const bigint = (): bigint => {
    const scene = currentScene();
    return scene ? nanosecondsOf(scene) : real.bigint();
  };
  replace(process, "hrtime", Object.assign(hrtime, { bigint }));
}

function nanosecondsOf(scene: Scene): bigint {
  return BigInt(Math.round(scene.elapsed() * 1e6));
}
