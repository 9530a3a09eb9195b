/** Who may ask the console. It is this machine's own browser, on the page that the console has served: no other name of the host, no other page, no guess. */
import { timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** A page of another site can send it only after a preflight, which the console does not answer. */
const TOKEN_HEADER = "x-onceonly-token";

/** The names under which a browser of this machine reaches the port. */
const HOSTS = ["127.0.0.1", "localhost"];

/**
 * Why a request is refused, or `undefined`. By DNS rebinding a foreign page gets here under its own name, which the Host header says.
 * A form or an image of a foreign page comes under the right name, and its Origin or Sec-Fetch-Site says from where.
 */
export function strangerFault(headers: IncomingHttpHeaders, port: number): string | undefined {
  const host = headers.host ?? "";
  if (!HOSTS.some((name) => host === `${name}:${port}`)) return "the Host header isn't this console's";
  const { origin } = headers;
  if (origin !== undefined && origin !== `http://${host}`) return "the Origin header isn't this console's";
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none")
    return "the request comes from another site";
  return undefined;
}

/** Whether the request carries the token of this start. */
export function hasToken(headers: IncomingHttpHeaders, token: string): boolean {
  const given = Buffer.from(`${headers[TOKEN_HEADER] ?? ""}`);
  const expected = Buffer.from(token);
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected);
}

/** For the page: no foreign code runs, nothing loads from or connects to another origin, and no site can frame it. */
export function pageHeaders(nonce: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    ...ANSWER_HEADERS,
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy.join("; "),
    "cross-origin-opener-policy": "same-origin",
  };
}

/** For every answer. */
export const ANSWER_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};
