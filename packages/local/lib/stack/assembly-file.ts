// The files of a cloud assembly: looked up only in its folder, and validated as they are read. An assembly may
// come from anywhere, for example from a CI artifact.
import { readFileSync } from "node:fs";
import { basename, resolve, sep } from "node:path";

const MAX_DEPTH = 200;

type Fields = Readonly<Record<string, unknown>>;

/** @throws Error for a name that leads out of the folder, or isn't a name */
export function pathInside(folder: string, name: unknown, what: string): string {
  const path = resolve(folder, typeof name === "string" ? name : "");
  if (path.startsWith(resolve(folder) + sep)) return path;
  throw faultOf(`the ${what} ${shown(name)} isn't in its folder`);
}

/** @throws Error for a file that cannot be read, or holds no JSON object */
export function readObject(path: string): Fields {
  const name = basename(path).slice(-80);
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw faultOf(`${name} isn't valid JSON`, cause);
  }
  if (isTooDeep(content)) throw faultOf(`${name} is nested deeper than ${MAX_DEPTH} levels`);
  return objectOf(content, name);
}

/** Template readers recurse, so too deep a template would overflow the stack. */
function isTooDeep(content: unknown): boolean {
  let level: readonly unknown[] = [content];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
    level = level.flatMap((value) =>
      typeof value === "object" && value !== null ? Object.values(value) : [],
    );
  }
  return level.length > 0;
}

/** An object with members; `undefined` counts as an empty one. @throws Error for anything else */
export function objectOf(value: unknown, what: string): Fields {
  if (value === undefined) return {};
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw faultOf(`${what} isn't an object`);
}

/** @throws Error for anything but an array of strings; `undefined` counts as an empty one */
export function namesOf(value: unknown, what: string): readonly string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((name) => typeof name === "string")) return value;
  throw faultOf(`${what} isn't an array of strings`);
}

export function faultOf(what: string, cause?: unknown): Error {
  return new Error(`can't run the assembly: ${what}. Synthesize it again`, { cause });
}

function shown(name: unknown): string {
  return typeof name === "string" ? `"${name.slice(0, 80)}"` : `of type ${typeof name}`;
}
