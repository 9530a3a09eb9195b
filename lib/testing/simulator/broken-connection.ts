/** What the AWS SDK is told when a connection breaks. */
export function brokenConnection(): Error {
  return Object.assign(new Error("read ECONNRESET"), { name: "TimeoutError", code: "ECONNRESET" });
}
