/**
 * In a scene randomness comes from the seed. Only synchronous calls are patched: calls with a callback stay
 * random.
 */
import nodeCrypto from "node:crypto";
import { currentScene } from "../scene.ts";
import type { SeededRandom } from "../seeded-random.ts";
import { replace } from "./replace.ts";

export function patchRandomness(): void {
  const realFraction = Math.random;
  replace(Math, "random", () => currentScene()?.random.fraction() ?? realFraction());

  const { webcrypto } = nodeCrypto;
  const realUuid = nodeCrypto.randomUUID;
  const uuid: typeof realUuid = (options) => currentUuid() ?? realUuid(options);
  const realFill = webcrypto.getRandomValues.bind(webcrypto);
  const fillValues = <T extends ArrayBufferView>(values: T): T => {
    const random = currentScene()?.random;
    if (random === undefined) return realFill(values as never);
    fillView(random, values);
    return values;
  };
  replaceAll(webcrypto, { randomUUID: uuid, getRandomValues: fillValues });

  const realBytes = nodeCrypto.randomBytes;
  const realFillSync = nodeCrypto.randomFillSync;
  const realInt = nodeCrypto.randomInt;
  replaceAll(nodeCrypto, {
    // Its getRandomValues is a getter, which returns WebCrypto's function.
    randomUUID: uuid,
    randomBytes: (size: number, callback?: (error: Error | null, bytes: Buffer) => void) => {
      const random = callback === undefined ? currentScene()?.random : undefined;
      if (random === undefined) return realBytes(size, callback as never);
      const bytes = Buffer.alloc(size);
      random.fill(bytes);
      return bytes;
    },
    randomFillSync: (view: ArrayBufferView, offset?: number, size?: number) => {
      const random = currentScene()?.random;
      if (random === undefined) return realFillSync(view as Uint8Array, offset as number, size as number);
      fillView(random, view, offset, size);
      return view;
    },
    randomInt: (...parameters: [number, (number | undefined)?, unknown?]) => {
      const random = currentScene()?.random;
      const hasCallback = parameters.some((each) => typeof each === "function");
      if (random === undefined || hasCallback) return realInt(...(parameters as [number]));
      const [min, max] = parameters[1] === undefined ? [0, parameters[0]] : [parameters[0], parameters[1]];
      return random.between(min, max - 1);
    },
  });
}

function replaceAll(object: object, functions: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(functions)) replace(object, name, value);
}

function currentUuid(): ReturnType<typeof nodeCrypto.randomUUID> | undefined {
  return currentScene()?.random.token() as ReturnType<typeof nodeCrypto.randomUUID> | undefined;
}

function fillView(random: SeededRandom, view: ArrayBufferView, offset = 0, size?: number): void {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  random.fill(bytes.subarray(offset, size === undefined ? undefined : offset + size));
}
