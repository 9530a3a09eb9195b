/** The fields of a JSON value that count: those in `take`, or all except those in `leave`. */
import { PayloadInvalidError } from "../core/errors.ts";
import { isPlainObject } from "../core/json.ts";

type Members = Readonly<Record<string, unknown>>;

/** The names below a value: `whole` if the value itself is meant. */
interface Branch {
  whole: boolean;
  readonly names: Map<string, Branch>;
}

/** Outside of a branch: no JSON value is `undefined`. */
const NOTHING = undefined;

/** Returns the picked part of a value, for paths such as `data.amount`, which apply to every entry of an array. */
export function pickFields(kind: "take" | "leave", paths: readonly string[]): (value: unknown) => unknown {
  const root: Branch = { whole: false, names: new Map() };
  for (const path of paths) grow(root, path.split("."));
  const pick = kind === "take" ? taken : left;
  return (value) => {
    const picked = pick(value, root);
    if (picked !== NOTHING) return picked;
    // Otherwise all payloads without these fields would match.
    const names = paths.join(", ");
    throw new PayloadInvalidError(
      `the payload has none of the fields that the fingerprint is made of: ${names}`,
      `the payload has none of the fields ${names}`,
    );
  };
}

function grow(root: Branch, names: readonly string[]): void {
  let branch = root;
  for (const name of names) {
    const next = branch.names.get(name) ?? { whole: false, names: new Map() };
    branch.names.set(name, next);
    branch = next;
  }
  branch.whole = true;
}

function taken(value: unknown, branch: Branch): unknown {
  if (branch.whole) return value;
  if (Array.isArray(value)) {
    const entries = value.map((entry) => taken(entry, branch));
    // An entry without the fields keeps its position.
    return entries.every((entry) => entry === NOTHING) ? NOTHING : entries.map((entry) => entry ?? {});
  }
  if (!isPlainObject(value)) return NOTHING;
  const fields = [...branch.names].flatMap(([name, next]) => {
    const field = Object.hasOwn(value as object, name) ? taken((value as Members)[name], next) : NOTHING;
    return field === NOTHING ? [] : [[name, field] as const];
  });
  // Unlike assignment, this also creates a field named `__proto__`.
  return fields.length === 0 ? NOTHING : Object.fromEntries(fields);
}

function left(value: unknown, branch: Branch): unknown {
  if (Array.isArray(value)) return value.map((entry) => left(entry, branch));
  // A value that isn't JSON stays, and is refused later.
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value as Members).flatMap(([name, field]) => {
      const next = branch.names.get(name);
      if (next?.whole) return [];
      return [[name, next ? left(field, next) : field]];
    }),
  );
}
