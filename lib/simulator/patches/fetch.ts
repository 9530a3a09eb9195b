/** In a scene `fetch` reaches only the services of the simulation. */
import { currentScene } from "../scene.ts";
import { wrap } from "./replace.ts";

export function patchFetch(): void {
  wrap<typeof fetch>(globalThis, "fetch", (real) => async (input, init) => {
    const scene = currentScene();
    return scene ? scene.fetch(new Request(input, init)) : real(input, init);
  });
}
