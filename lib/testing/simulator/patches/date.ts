/** `Date` tells the time of the scene it is asked in. */
import { currentScene } from "../scene.ts";
import { replace } from "./replace.ts";

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
}
