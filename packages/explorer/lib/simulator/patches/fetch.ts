/** In a scene `fetch` reaches only the services of the simulation. */
import { currentScene } from "../scene.ts";
import { wrap } from "./replace.ts";

let patched: typeof fetch | undefined;

/** Wraps whatever has replaced `fetch` since, such as a mock: otherwise the simulation wouldn't see its responses. */
export function patchFetch(): void {
  if (globalThis.fetch === patched) return;
  wrap<typeof fetch>(globalThis, "fetch", (real) => async (input, init) => {
    const scene = currentScene();
    return scene ? scene.fetch(new Request(input, init)) : real(input, init);
  });
  patched = globalThis.fetch;
}
