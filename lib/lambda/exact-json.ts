/** JSON with its numbers as they are written: JavaScript rounds integers beyond 2^53, and fractions of more than 17 digits. */
import { hashTuple } from "../core/identity.ts";

export interface ParsedJson {
  readonly value: unknown;
  /**
   * Begins each text in `value` that stands for a number that JavaScript would round. It is the hash of the whole text, so that no
   * sender can write a text that begins with it. `undefined` where there is no such number.
   */
  readonly mark: string | undefined;
}

/** Only such text may have a number that is rounded: most payloads aren't read twice. */
const LONG_NUMBER = /[\d.]{16}|\d[eE]/;

/** @throws SyntaxError for what is no JSON */
export function parseExactly(text: string): ParsedJson {
  const value: unknown = JSON.parse(text);
  if (!LONG_NUMBER.test(text)) return { value, mark: undefined };
  const mark = hashTuple("onceonly/exact-json/1", text);
  const parts: string[] = [];
  let copied = 0;
  // The text is known to be JSON, so that each token outside of strings is whole.
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

/** One text for each number, however it is written: its digits without zeros at the ends, and its exponent. */
function decimalOf(token: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  if (digits === "") return "0";
  // A regular expression would look at each run of zeros again and again.
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  const scale = Number(exponent) - fraction.length + digits.length - end;
  return `${sign}${digits.slice(0, end)}e${Number.isSafeInteger(scale) ? scale : exponent}`;
}

/** The canonical JSON of a value (RFC 8785) with its marked numbers in it; `undefined` where it holds none. */
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
