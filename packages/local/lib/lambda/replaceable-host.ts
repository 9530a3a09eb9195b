// A function whose code can be replaced while it runs, as a deployment does: invocations that run finish with the code
// they began with, and later ones get new processes with the new code.
import { createFunctionHost, type FunctionHost, type FunctionHostOptions } from "./function-host.ts";

export interface ReplaceableHost extends FunctionHost {
  /** Resolves when no process has the old code any more. */
  replace(options: FunctionHostOptions): Promise<void>;
}

export function createReplaceableHost(options: FunctionHostOptions): ReplaceableHost {
  let current = createFunctionHost(options);
  const hosts = new Set([current]);
  return {
    invoke: (payload, extras) => current.invoke(payload, extras),
    kill(requestId) {
      for (const host of hosts) {
        const killed = host.kill(requestId);
        if (killed !== undefined) return killed;
      }
      return undefined;
    },
    async replace(newOptions) {
      const old = current;
      current = createFunctionHost(newOptions);
      hosts.add(current);
      await old.finished();
      await old.stop();
      hosts.delete(old);
    },
    stop: async () => void (await Promise.all([...hosts].map((host) => host.stop()))),
  };
}
