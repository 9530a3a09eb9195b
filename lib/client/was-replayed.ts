/**
 * True if the server answered from its record without running the operation again (`Idempotent-Replayed:
 * true`). From another origin a browser shows this header only if the server lists it in
 * `Access-Control-Expose-Headers`.
 */
export function wasReplayed(response: Response): boolean {
  return response.headers.get("idempotent-replayed")?.toLowerCase() === "true";
}
