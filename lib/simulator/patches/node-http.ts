/** In a scene `node:http` and `node:https` reach only the simulation. Many HTTP clients are built on them. */
import http from "node:http";
import https from "node:https";
import { currentScene } from "../scene.ts";
import { keepApartByScene } from "./client-state.ts";
import { replace } from "./replace.ts";
import { SceneRequest } from "./scene-request.ts";

/** The key under which this package's own client passes its memory from one request to the next. */
const CLIENT_STATE = Symbol.for("onceonly.clientState");

type Listener = (response: http.IncomingMessage) => void;

export function patchNodeHttp(): void {
  for (const [module, protocol] of [
    [http, "http:"],
    [https, "https:"],
  ] as const) {
    for (const name of ["request", "get"] as const) {
      const real = module[name] as (...parameters: unknown[]) => http.ClientRequest;
      replace(module, name, function requestInScene(...parameters: unknown[]): unknown {
        const scene = currentScene();
        if (scene === undefined) return real(...parameters);
        const { options, listener } = readParameters(parameters);
        const state = (options as { [CLIENT_STATE]?: object })[CLIENT_STATE];
        if (state) keepApartByScene(state);
        const request = new SceneRequest(scene, { protocol, ...options });
        if (listener) request.once("response", listener);
        return name === "get" ? request.end() : request;
      });
    }
  }
}

/** `(options)`, `(url)` or `(url, options)`, with or without a listener. */
function readParameters(parameters: readonly unknown[]) {
  const [first, ...rest] = parameters;
  const listener = parameters.findLast((each) => typeof each === "function") as Listener | undefined;
  if (typeof first !== "string" && !(first instanceof URL))
    return { options: Object(first) as object, listener };
  const { protocol, hostname, port, pathname, search, username, password } = new URL(first);
  const auth = username ? { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` } : {};
  const options = {
    protocol,
    hostname,
    port,
    path: pathname + search,
    ...auth,
    ...Object(rest[0]),
  } as object;
  return { options, listener };
}
