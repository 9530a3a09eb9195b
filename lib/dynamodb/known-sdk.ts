/** Whether a client of the SDK, with everything that a request passes in it, is one that our tests have compared with `send`. */
import { createHash } from "node:crypto";

/**
 * SHA-256 of the SDK's own code, as `examineSdk` reads it from a client, by the version that has it. `client-matrix.test.ts`
 * compares the requests of these versions with those of `client.send`. To add one, run it with that version:
 * `NODE_DEBUG=onceonly` prints the hash. Bundlers rewrite the code, so that no bundle is known.
 */
export const KNOWN_SDKS: Readonly<Record<string, string>> = {
  "3.1162.0": "fff94f5c947b505798dacde71ceba8cb569d116ca79269bf31ebf8dcf2b5b5da",
  "3.1169.0": "67971c4a71a52a52b12751e218c6b7065824c0655fd2f4678205450f2968f4c4",
};

interface FunctionPart {
  readonly holder: object;
  readonly name: PropertyKey;
  readonly isGetter: boolean;
  readonly value: unknown;
}

export interface ExaminedSdk {
  readonly digest: string;
  /** Cheap enough to ask before each request: a tracer or a mock can replace a function at any time. */
  isUnchanged(): boolean;
}

interface Stack {
  applyToStack(to: object): void;
}

export interface Examinable {
  readonly config: { readonly httpAuthSchemes?: readonly object[] };
  readonly middlewareStack: Stack;
}

/** The SDK writes it after each response: it is a measured time, not a setting. */
const MEASURED = "systemClockOffset";

/** Reads the text of each function, and each setting, that the client and these classes of commands have. */
export function examineSdk(
  client: Examinable,
  commands: readonly { readonly prototype: object }[],
): ExaminedSdk {
  const lines: string[] = [];
  const functions: FunctionPart[] = [];
  const seen = new Set<object>();

  function read(path: string, root: object, depth: number): void {
    if (seen.has(root)) return;
    seen.add(root);
    for (
      let holder: object | null = root;
      holder && !isBuiltIn(holder);
      holder = Object.getPrototypeOf(holder)
    ) {
      for (const name of Reflect.ownKeys(holder)) {
        const { get, value } = Reflect.getOwnPropertyDescriptor(holder, name)!;
        const part: unknown = get ?? value;
        const isObject = typeof part === "object" && part !== null;
        if (typeof part === "function") {
          functions.push({ holder, name, isGetter: get !== undefined, value: part });
          // A mock may stand on an object or class in front of the one that has the function.
          if (value === (root as never)[name]) functions.push({ holder: root, name, isGetter: false, value });
        }
        if (name !== MEASURED) lines.push(`${path}.${String(name)} ${isObject ? "{}" : textOf(part)}`);
        if (isObject && depth > 0) read(`${path}.${String(name)}`, part, depth - 1);
      }
    }
  }

  read("client", client, 2);
  for (const scheme of client.config.httpAuthSchemes ?? []) read("scheme", scheme, 1);
  for (const [index, { prototype }] of commands.entries()) read(`command${index}`, prototype, 0);
  const add = (middleware: unknown, options: object): void => {
    lines.push(`middleware ${JSON.stringify(options)} ${textOf(middleware)}`);
  };
  client.middlewareStack.applyToStack({ add, addRelativeTo: add });
  return {
    digest: createHash("sha256").update(lines.sort().join("\n")).digest("hex"),
    isUnchanged: () => functions.every((part) => current(part) === part.value),
  };
}

function current({ holder, name, isGetter }: FunctionPart): unknown {
  return isGetter ? Reflect.getOwnPropertyDescriptor(holder, name)?.get : (holder as never)[name];
}

function isBuiltIn(prototype: object): boolean {
  return /\[native code\]/.test(textOf(prototype.constructor)) && Object.hasOwn(prototype, "constructor");
}

function textOf(part: unknown): string {
  return typeof part === "function" ? Function.prototype.toString.call(part) : String(part);
}
