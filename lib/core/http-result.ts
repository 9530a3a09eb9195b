/** What makes a stored result an HTTP response, and the mark in the claim tokens of operations whose callers read one. */

/** No random token contains a dot, so the mark can't be there by chance. Nothing else reads a token. */
const MARK = "h.";

/** The token of an HTTP operation. */
export const httpToken = (token: string): string => `${MARK}${token}`;

/** Whether the callers of the attempt with this token read an HTTP response. */
export const isHttpToken = (token: string): boolean => token.startsWith(MARK);

/** A fresh token for the operation that made the previous one. */
export const tokenLike = (previous: string, token: string): string =>
  isHttpToken(previous) ? httpToken(token) : token;

/** A number or a numeric string, as gateways accept it. */
export function isStatus(status: unknown): boolean {
  return /string|number/.test(typeof status) && /^[1-5]\d\d$/.test(`${status}`);
}

/** Whether a stored result is a response: another writer's record may contain anything. */
export function isHttpResponse(stored: unknown): boolean {
  const { statusCode, body, headers, multiValueHeaders } = Object(stored) as Readonly<
    Record<string, unknown>
  >;
  const isMap = (value: unknown) => Object(value) === value && !Array.isArray(value);
  const areMaps = [headers, multiValueHeaders].every((field) => isMap(field ?? {}));
  return isStatus(statusCode) && typeof (body ?? "") === "string" && areMaps;
}
