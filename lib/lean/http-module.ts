/**
 * Node's client of HTTP or HTTPS. An `import` of `node:http` reads each of its exports, which loads a client of
 * WebSockets. That takes 35 to 60 ms of a cold start since Node 22.
 */
export function httpModule(protocol: string): typeof import("node:http") | typeof import("node:https") {
  return process.getBuiltinModule(protocol === "https:" ? "node:https" : "node:http");
}
