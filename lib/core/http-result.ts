/** What makes a stored result an HTTP response. */

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
