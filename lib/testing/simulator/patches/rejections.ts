/** A promise of a scene that is rejected while nobody waits for it ends its host, as it ends a Lambda environment. */
import { currentScene } from "../scene.ts";
import { replace } from "./replace.ts";

export function patchRejections(): void {
  const real = process.emit.bind(process) as (name: string, ...parameters: unknown[]) => boolean;
  replace(process, "emit", function emit(name: string, ...parameters: unknown[]): boolean {
    const scene = name === "unhandledRejection" ? currentScene() : undefined;
    if (scene === undefined) return real(name, ...parameters);
    scene.fail(parameters[0]);
    return true;
  });
}
