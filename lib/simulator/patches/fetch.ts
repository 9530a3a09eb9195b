/** In a scene `fetch` reaches only the services of the simulation. */
import { currentScene } from "../scene.ts";
import { replace } from "./replace.ts";

export function patchFetch(): void {
  const real = globalThis.fetch;
  const fetchInScene: typeof fetch = async (input, init) => {
    const scene = currentScene();
    return scene ? scene.fetch(new Request(input, init)) : real(input, init);
  };
  replace(globalThis, "fetch", fetchInScene);
}
