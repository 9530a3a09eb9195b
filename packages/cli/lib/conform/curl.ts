/** Requests as curl lines that a shell can repeat. What may be secret is a variable for the reader to set. */
import type { Header } from "./send.ts";

export interface CurlRequest {
  readonly method: string;
  /** A query may hold a token, so such an address is a variable. */
  readonly url: URL;
  /** With the names of the variables in place of values. */
  readonly headers: readonly Header[];
  readonly body?: string;
}

/** Stands for a variable of the shell within a text. */
export const variable = (name: string): string => `\u0000${name}\u0000`;

/** The variable that holds a header's value. */
export const variableOf = (header: string, prefix = ""): string =>
  variable(`${prefix}${header.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`);

export function curl({ method, url, headers, body }: CurlRequest): string {
  const address = url.search === "" ? url.href : variable("URL");
  const lines = headers.map(([name, value]) => [
    "-H",
    quoted(value === "" ? `${name};` : `${name}: ${value}`),
  ]);
  const data = body === undefined ? [] : ["-d", quoted(body)];
  return ["curl", "-i", "-X", method, quoted(address), ...lines.flat(), ...data].join(" ");
}

/** In single quotes, with variables in double quotes between them, and controls as the shell's escapes. */
function quoted(text: string): string {
  const parts = text.split("\u0000").map((part, place) => {
    if (place % 2 === 1) return `"$${part}"`;
    if (part === "") return "";
    return isPrintable(part) ? `'${part.replaceAll("'", `'\\''`)}'` : `$'${escaped(part)}'`;
  });
  return parts.join("") || "''";
}

const isPrintable = (text: string) => !/[^ -~\u00a0-\uffff]/.test(text);

const escaped = (text: string) =>
  text.replaceAll(/[^ -~]|['\\]/g, (each) =>
    /['\\]/.test(each) ? `\\${each}` : `\\x${each.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
