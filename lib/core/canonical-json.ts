/**
 * Canonical JSON (RFC 8785): equal values have the same bytes, whatever the order of their members. One walk checks that JSON
 * represents the value faithfully and writes it, so each member is read once.
 */
import { containerFault, firstFault, primitiveFault, type Unfaithful } from "./json.ts";

/** Matches quotes, backslashes, control characters and surrogates. A string without any is copied as it is. */
const NEEDS_CARE = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/**
 * A long text is written in parts of about this many characters. V8 keeps concatenated strings as trees, and for one tree of
 * 1 MB the garbage collector took as long as the rest of the walk.
 */
const PART_LENGTH = 4096;

export const LONE_SURROGATE = "a string with a lone surrogate";

/** Two payloads would become one. */
const INEXACT = "an integer beyond ±(2^53−1), which may already have lost digits: use a string";

/**
 * The canonical text of a value; if it is long, its bytes in UTF-8.
 * @param refuse makes the error to throw for the first thing in `value` that has no canonical text
 */
export function writeCanonical(value: unknown, refuse: (fault: Unfaithful) => Error): string | Uint8Array {
  /** After a fault, the path to it. */
  const path: (string | number)[] = ["$"];
  /** The objects around the current value. */
  const holders: object[] = [];
  const parts: Uint8Array[] = [];
  /** What isn't in a part yet. */
  let text = "";

  /** Returns the fault if there is one. */
  function write(value: unknown): string | undefined {
    if (text.length > PART_LENGTH) {
      parts.push(Buffer.from(text));
      text = "";
    }
    if (typeof value === "string") return writeString(value);
    if (typeof value === "object" && value !== null) return writeContainer(value);
    const fault = primitiveFault(value);
    if (fault) return fault;
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) return INEXACT;
    text += value;
    return undefined;
  }

  /** RFC 8785, section 3.2.2.2. */
  function writeString(value: string): string | undefined {
    if (!value.isWellFormed()) return LONE_SURROGATE;
    text += NEEDS_CARE.test(value) ? JSON.stringify(value) : `"${value}"`;
    return undefined;
  }

  /** @param name none for an item of an array */
  function writeMember(name: string | undefined, inner: unknown): string | undefined {
    if (name === undefined) return write(inner);
    const fault = writeString(name);
    text += ":";
    return fault ?? write(inner);
  }

  /** Members that are `undefined` are left out, as JSON does. Names are sorted by UTF-16 code units. */
  function writeContainer(value: object): string | undefined {
    const fault = containerFault(value, holders);
    if (fault) return fault;
    holders.push(value);
    const isArray = Array.isArray(value);
    let next = isArray ? "[" : "{";
    // An index loop over both, because an iterator over arrays is slower.
    const names: readonly unknown[] = isArray ? value : Object.keys(value).sort();
    for (let index = 0; index < names.length; index++) {
      const name = isArray ? index : (names[index] as string);
      path.push(name);
      const inner = (value as Record<string, unknown>)[name];
      if (inner !== undefined || isArray) {
        text += next;
        next = ",";
        const fault = writeMember(isArray ? undefined : (name as string), inner);
        if (fault) return fault;
      }
      path.pop();
    }
    if (next !== ",") text += next;
    text += isArray ? "]" : "}";
    holders.pop();
    return undefined;
  }

  const fault = firstFault(path, () => write(value));
  if (fault) throw refuse(fault);
  return parts.length === 0 ? text : Buffer.concat([...parts, Buffer.from(text)]);
}
