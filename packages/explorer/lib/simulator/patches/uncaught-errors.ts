/** An unhandled error in a scene ends its host, as it ends a Lambda environment. */
import { currentScene } from "../scene.ts";
import { replace } from "./replace.ts";

export function patchUncaughtErrors(): void {
  const real = process.emit.bind(process) as (name: string, ...parameters: unknown[]) => boolean;
  replace(process, "emit", function emit(name: string, ...parameters: unknown[]): boolean {
    const isUncaught = name === "unhandledRejection" || name === "uncaughtException";
    const scene = isUncaught ? currentScene() : undefined;
    if (scene === undefined) return real(name, ...parameters);
    scene.fail(parameters[0]);
    return true;
  });
}
