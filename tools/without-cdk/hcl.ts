// Terraform's language, formatted as `terraform fmt` does.

/** An expression, as it is written. */
export class Expression {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Nested blocks of one name. */
export class Blocks {
  readonly bodies: readonly Body[];
  constructor(...bodies: Body[]) {
    this.bodies = bodies;
  }
}

/** `undefined` is left out. */
export interface Body {
  readonly [name: string]: unknown;
}

/** `resource "aws_sqs_queue" "shipments" { … }` */
export function blockOf(head: string, body: Body): string {
  return [`${head} {`, ...linesOf(body).map(indented), "}"].join("\n");
}

function linesOf(body: Body): string[] {
  const entries = Object.entries(body).filter(([, value]) => value !== undefined);
  const attributes = entries.filter(([, value]) => !(value instanceof Blocks));
  const nested = entries.flatMap(([name, value]) =>
    value instanceof Blocks ? value.bodies.flatMap((each) => ["", ...blockOf(name, each).split("\n")]) : [],
  );
  const lines = [...assignments(attributes), ...nested];
  return lines[0] === "" ? lines.slice(1) : lines;
}

/** Neighbours of one line each have their equals signs below each other. */
function assignments(entries: readonly (readonly [string, unknown])[]): string[] {
  const texts = entries.map(([name, value]) => [name, textOf(value)] as const);
  const isLong = (at: number) => texts[at]?.[1].includes("\n") ?? true;
  return texts.flatMap(([name, text], at) => {
    let [from, to] = [at, at];
    while (!isLong(at) && !isLong(from - 1)) from--;
    while (!isLong(at) && !isLong(to + 1)) to++;
    const width = Math.max(...texts.slice(from, to + 1).map(([each]) => each.length));
    return `${name.padEnd(width)} = ${text}`.split("\n");
  });
}

/** A value as an expression of one or more lines. */
export function textOf(value: unknown): string {
  if (value instanceof Expression) return value.text;
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return listOf(value.map(textOf));
  if (typeof value !== "object" || value === null) return String(value);
  const entries = Object.entries(value).map(([name, each]) => [keyOf(name), each] as const);
  return ["{", ...assignments(entries).map(indented), "}"].join("\n");
}

function listOf(items: readonly string[]): string {
  const line = `[${items.join(", ")}]`;
  if (line.length < 80 && !line.includes("\n")) return line;
  return ["[", ...items.flatMap((item) => `${item},`.split("\n")).map(indented), "]"].join("\n");
}

const keyOf = (name: string) => (/^[A-Za-z_][\w-]*$/.test(name) ? name : quoted(name));

export const quoted = (text: string) => JSON.stringify(text).replaceAll("${", "$${").replaceAll("%{", "%%{");

const indented = (line: string) => (line === "" ? line : `  ${line}`);
