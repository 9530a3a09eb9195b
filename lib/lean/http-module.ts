/**
 * Node's HTTP or HTTPS module. An `import` of `node:http` reads each of its exports, which loads a WebSocket client and costs 35
 * to 60 ms of a cold start since Node 22.
 */
export function httpModule(protocol: string): typeof import("node:http") | typeof import("node:https") {
  return process.getBuiltinModule(protocol === "https:" ? "node:https" : "node:http");
}
