/** In a scene no process and no worker thread starts: the simulation couldn't see their requests. */
import childProcess, { ChildProcess } from "node:child_process";
import workerThreads from "node:worker_threads";
import { currentScene } from "../scene.ts";
import { replace, wrap } from "./replace.ts";

/** Loaders of TypeScript compile by it, when a handler imports a module. */
const COMPILER = /(^|[/\\])esbuild(\.exe)?$/;

type Start = (this: unknown, ...parameters: never[]) => unknown;

export function patchProcesses(): void {
  const refusing = (fileIn: (parameters: readonly unknown[]) => unknown) => (real: Start) =>
    function start(this: unknown, ...parameters: never[]) {
      const file = String(fileIn(parameters));
      const error = COMPILER.test(file) ? undefined : currentScene()?.refuse(`the process ${file}`);
      if (error) throw error;
      return real.apply(this, parameters);
    };
  // All asynchronous functions use this one method.
  wrap<Start>(
    ChildProcess.prototype,
    "spawn",
    refusing(([options]) => Object(options).file),
  );
  for (const name of ["spawnSync", "execSync", "execFileSync"]) {
    wrap<Start>(
      childProcess,
      name,
      refusing(([file]) => file),
    );
  }
  const { Worker } = workerThreads;
  replace(
    workerThreads,
    "Worker",
    new Proxy(Worker, {
      construct(target, parameters, newTarget) {
        const error = currentScene()?.refuse("a worker thread");
        if (error) throw error;
        return Reflect.construct(target, parameters, newTarget) as object;
      },
    }),
  );
}
