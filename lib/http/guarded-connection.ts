/** Keeps a handler from writing to the connection while its response is held back. */
import type { ServerResponse } from "node:http";
import { Socket } from "node:net";
import { type Method, replaced } from "./replaced-methods.ts";

/** Refuses writes to the connection that bypass the response. Only the response whose turn it is has a socket. */
export function guarded(res: ServerResponse, refuse: (why: string) => void): () => void {
  const { stream } = res as { readonly stream?: object };
  const { socket } = stream ? {} : (res as { readonly socket?: unknown });
  const target = stream ?? (socket instanceof Socket ? socket : undefined);
  if (!target) return () => {};
  const real = target as Readonly<Record<string, Method>>;
  let isRefused = false;
  const guard = (name: string) => {
    const method = real[name] as Method;
    return (...given: never[]) => {
      const [data] = given as unknown[];
      // Node itself ends a socket without data after its client does, and writes informational responses.
      const isInforming = typeof data === "string" && /^HTTP\/1\.1 10[023] /.test(data);
      const isNodes = data === undefined || typeof data === "function" || isInforming;
      if (!stream && isNodes && !isRefused) return Reflect.apply(method, target, given);
      isRefused = true;
      refuse("its handler wrote to the connection instead of the response");
      return true;
    };
  };
  const names = stream ? ["respond", "respondWithFile", "respondWithFD"] : ["write", "end"];
  return replaced(target, Object.fromEntries(names.map((name) => [name, guard(name)])));
}
