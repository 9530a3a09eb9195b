/** JSON that keeps its numbers as written: JavaScript rounds integers beyond 2^53, and fractions of more than 17 digits. */
import { hashTuple } from "../core/identity.ts";

export interface ParsedJson {
  readonly value: unknown;
  /**
   * The prefix of strings in `value` that stand for numbers JavaScript would round. It's the hash of the whole text, so
   * no sender can write a string with this prefix. `undefined` if there are no such numbers.
   */
  readonly mark: string | undefined;
}

/** Only text that matches may contain a rounded number, so most payloads aren't read twice. */
const LONG_NUMBER = /[\d.]{16}|\d[eE]/;

/** @throws SyntaxError for text that isn't JSON */
export function parseExactly(text: string): ParsedJson {
  const value: unknown = JSON.parse(text);
  if (!LONG_NUMBER.test(text)) return { value, mark: undefined };
  const mark = hashTuple("onceonly/exact-json/1", text);
  const parts: string[] = [];
  let copied = 0;
  // The text is valid JSON, so each token outside of strings is complete.
  const tokens = /"|-?\d[\d.eE+-]*/g;
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    const [token] = found;
    if (token === '"') tokens.lastIndex = endOfString(text, found.index);
    else if (isRounded(token)) {
      parts.push(text.slice(copied, found.index), `"${mark}${decimalOf(token)}"`);
      copied = tokens.lastIndex;
    }
  }
  if (parts.length === 0) return { value, mark: undefined };
  return { value: JSON.parse(parts.join("") + text.slice(copied)), mark };
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** Whether another text could be the same number in JavaScript. */
function isRounded(token: string): boolean {
  const number = Number(token);
  if (Number.isInteger(number) ? !Number.isSafeInteger(number) : !Number.isFinite(number)) return true;
  return decimalOf(token) !== decimalOf(`${number}`);
}

/** The same string for a number in any notation: its digits without outer zeros, and its exponent. */
function decimalOf(token: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  if (digits === "") return "0";
  // A regular expression would scan each run of zeros repeatedly.
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  const scale = Number(exponent) - fraction.length + digits.length - end;
  return `${sign}${digits.slice(0, end)}e${Number.isSafeInteger(scale) ? scale : exponent}`;
}

/** The canonical JSON of a value (RFC 8785) including its marked numbers; `undefined` if it has none. */
export function canonicalText(value: unknown, mark: string): string | undefined {
  let isMarked = false;
  const textOf = (each: unknown): string => {
    if (typeof each === "string" && each.startsWith(mark)) {
      isMarked = true;
      return each.slice(mark.length);
    }
    if (typeof each !== "object" || each === null) return JSON.stringify(each);
    if (Array.isArray(each)) return `[${each.map(textOf)}]`;
    const names = Object.keys(each).sort();
    return `{${names.map((name) => `${JSON.stringify(name)}:${textOf((each as Record<string, unknown>)[name])}`)}}`;
  };
  const text = textOf(value);
  return isMarked ? text : undefined;
}
