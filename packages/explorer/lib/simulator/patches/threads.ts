/** Counts hidden work on Node's threads: compression and WebCrypto. */
import nodeCrypto from "node:crypto";
import zlib from "node:zlib";
import { beginThreadWork } from "../real-work.ts";
import { currentScene } from "../scene.ts";
import { replace } from "./replace.ts";

type Method = (...parameters: unknown[]) => unknown;

export function patchThreads(): void {
  patchCompression();
  const { prototype } = nodeCrypto.webcrypto.subtle.constructor as { prototype: Record<string, Method> };
  for (const name of Object.getOwnPropertyNames(prototype)) {
    const real = prototype[name];
    if (name === "constructor" || typeof real !== "function") continue;
    replace(prototype, name, function counted(this: unknown, ...parameters: unknown[]) {
      const answer = real.apply(this, parameters);
      if (currentScene()) void Promise.resolve(answer).then(...both(beginThreadWork()));
      return answer;
    });
  }
}

/** All asynchronous functions of zlib use this one method. */
function patchCompression(): void {
  const prototype = prototypeWith(zlib.Gzip.prototype, "_transform") as { _transform: Method };
  const real = prototype._transform;
  replace(prototype, "_transform", function counted(this: unknown, ...parameters: unknown[]) {
    if (!currentScene()) return real.apply(this, parameters);
    const [chunk, encoding, callback] = parameters;
    const end = beginThreadWork();
    return real.call(this, chunk, encoding, (...answer: unknown[]) => {
      end();
      (callback as Method)(...answer);
    });
  });
}

function prototypeWith(object: object, name: string): object {
  let prototype = object;
  while (!Object.hasOwn(prototype, name)) prototype = Object.getPrototypeOf(prototype) as object;
  return prototype;
}

function both(work: () => void): [() => void, () => void] {
  return [work, work];
}
