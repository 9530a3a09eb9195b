/**
 * In a scene `node:http` and `node:https` reach only the simulation. Many HTTP clients are built on them.
 * Their requests are Node's own; only the connection is the scene's.
 */
import http from "node:http";
import https from "node:https";
import { currentScene, type Scene } from "../scene.ts";
import { keepApartByScene } from "./client-state.ts";
import { wrap } from "./replace.ts";
import { connectInScene, startServer } from "./scene-server.ts";

/** The key under which this package's own client passes its memory from one request to the next. */
const CLIENT_STATE = Symbol.for("onceonly.clientState");

interface RequestPlace {
  readonly host?: string;
  readonly port?: number | string;
  readonly socketPath?: string | null;
}

type RequestMethod = (...parameters: unknown[]) => http.ClientRequest;
type AddRequest = (this: http.Agent, request: http.ClientRequest, to: RequestPlace, ...rest: never[]) => void;

export function patchNodeHttp(): void {
  startServer();
  for (const module of [http, https]) {
    // An agent of the caller might connect in its own way, such as through a proxy.
    const agent = new module.Agent({ keepAlive: true });
    for (const name of ["request", "get"] as const) {
      wrap<RequestMethod>(module, name, (real) => (...parameters) => {
        if (currentScene() === undefined) return real(...parameters);
        return real(...withOptions(parameters, { agent, createConnection: undefined }));
      });
    }
  }
  // Requests also arrive here if their function was taken from the module before the patch.
  wrap<AddRequest>(
    http.Agent.prototype,
    "addRequest",
    (real) =>
      function addRequest(request, to, ...rest) {
        const scene = currentScene();
        if (scene === undefined) real.call(this, request, to, ...rest);
        else connect(scene, request, to);
      },
  );
}

function connect(scene: Scene, request: http.ClientRequest, to: RequestPlace): void {
  const state = (to as { [CLIENT_STATE]?: object })[CLIENT_STATE];
  if (state) keepApartByScene(state);
  const pending = request as http.ClientRequest & {
    onSocket(socket: unknown, error?: Error): void;
    readonly timeout?: number;
  };
  if (to.socketPath) {
    pending.onSocket(undefined, scene.refuse(`a connection to ${to.socketPath}`));
    return;
  }
  const { protocol } = request;
  const host = to.host ?? request.host;
  const port = Number(to.port ?? 0);
  const socket = connectInScene(scene, {
    protocol,
    // URLs put brackets around an IPv6 address, options don't.
    hostname: host.includes(":") && !host.startsWith("[") ? `[${host}]` : host,
    port: port === (protocol === "https:" ? 443 : 80) ? undefined : port || undefined,
  });
  socket.once("free", () => socket.destroy());
  if (pending.timeout) socket.setTimeout(pending.timeout);
  pending.onSocket(socket);
}

/** `(options)`, `(url)` or `(url, options)`, with or without a listener. */
function withOptions([first, second, ...rest]: unknown[], ours: object): unknown[] {
  if (!isUrl(first)) return [{ ...Object(first), ...ours }, second];
  return typeof second === "function"
    ? [first, ours, second]
    : [first, { ...Object(second), ...ours }, ...rest];
}

/** Like Node's own test, which knows the URLs of jest too. */
function isUrl(value: unknown): boolean {
  if (typeof value === "string") return true;
  const { href, protocol, auth, path } = Object(value) as Record<string, unknown>;
  return Boolean(href && protocol) && auth === undefined && path === undefined;
}
