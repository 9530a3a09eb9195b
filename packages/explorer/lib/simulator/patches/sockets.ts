/**
 * In a scene no real connection opens, and no earlier one is used: the simulation couldn't see
 * them. Clients with their own connections, such as database drivers, fail here.
 */
import dgram from "node:dgram";
import dns from "node:dns";
import http2 from "node:http2";
import { Socket } from "node:net";
import { currentScene } from "../scene.ts";
import { wrap } from "./replace.ts";

type Method = (...parameters: unknown[]) => unknown;
type SocketMethod = (this: Socket, ...parameters: unknown[]) => unknown;
type Callback = (error: Error) => void;

/** The addresses of connections that were opened outside of scenes. */
const opened = new WeakMap<Socket, string>();

export function patchSockets(): void {
  wrap<SocketMethod>(
    Socket.prototype,
    "connect",
    (real) =>
      function connect(...parameters) {
        const address = addressOf(parameters);
        const error = currentScene()?.refuse(`a connection to ${address}`);
        if (error === undefined) {
          opened.set(this, address);
          return real.apply(this, parameters);
        }
        process.nextTick(() => this.destroy(error));
        return this;
      },
  );
  for (const name of ["write", "_write", "_writev"]) {
    wrap<SocketMethod>(
      Socket.prototype,
      name,
      (real) =>
        function write(...parameters) {
          const scene = currentScene();
          const address = scene && farAddressOf(this);
          if (address === undefined) return real.apply(this, parameters);
          const error = scene?.refuse(`the connection to ${address}, which was already open,`);
          (parameters.findLast((each) => typeof each === "function") as Callback | undefined)?.(
            error as Error,
          );
          this.destroy(error);
          return false;
        },
    );
  }
  patchDatagrams();
  patchLookUps();
  patchHttp2();
}

/** The arguments of `connect`: a port and a host, a path, or options, which Node itself passes in an array. */
function addressOf(parameters: readonly unknown[]): string {
  const [first, second] = Array.isArray(parameters[0]) ? (parameters[0] as unknown[]) : parameters;
  const { path, host, port } = Object(first) as { path?: string; host?: string; port?: number };
  if (typeof first === "string" && Number.isNaN(Number(first))) return first;
  if (typeof first !== "object") return `${typeof second === "string" ? second : "localhost"}:${first}`;
  return path ?? `${host ?? "localhost"}:${port}`;
}

/** `undefined` for streams of this machine, such as stdout, and for connections that a server accepted. */
function farAddressOf(socket: Socket): string | undefined {
  const known = opened.get(socket);
  if (known !== undefined) return known;
  const { remoteAddress, remotePort } = socket;
  const isAccepted = Boolean((socket as { server?: unknown }).server);
  return remoteAddress === undefined || isAccepted ? undefined : `${remoteAddress}:${remotePort}`;
}

function patchDatagrams(): void {
  for (const name of ["send", "connect"]) {
    wrap<(this: dgram.Socket, ...parameters: unknown[]) => void>(
      dgram.Socket.prototype,
      name,
      (real) =>
        function sendOrConnect(...parameters) {
          const scene = currentScene();
          if (scene === undefined) return real.apply(this, parameters);
          const numbers = parameters.filter((each) => typeof each === "number");
          const host = parameters.slice(name === "send" ? 1 : 0).find((each) => typeof each === "string");
          const error = scene.refuse(`a datagram to ${host ?? "localhost"}:${numbers.at(-1) ?? ""}`);
          const callback = parameters.findLast((each) => typeof each === "function") as Callback | undefined;
          process.nextTick(() => (callback ? callback(error) : this.emit("error", error)));
        },
    );
  }
}

function patchLookUps(): void {
  const withCallbacks = [dns, dns.Resolver.prototype];
  for (const object of [...withCallbacks, dns.promises, dns.promises.Resolver.prototype]) {
    const isPromise = !withCallbacks.includes(object as typeof dns);
    for (const name of namesOf(object).filter((each) => /^(lookup|resolve|reverse)/.test(each))) {
      wrap<Method>(
        object,
        name,
        (real) =>
          function lookUp(this: unknown, ...parameters) {
            const error = currentScene()?.refuse(`a DNS look-up of ${parameters[0]}`);
            if (error === undefined) return real.apply(this, parameters);
            if (isPromise) return Promise.reject(error);
            const callback = parameters.at(-1) as Callback;
            process.nextTick(() => callback(error));
            return {};
          },
      );
    }
  }
}

function namesOf(object: object): string[] {
  return [...new Set([...Object.keys(object), ...Object.getOwnPropertyNames(Object.getPrototypeOf(object))])];
}

/** A session writes by itself, without its socket's methods. */
function patchHttp2(): void {
  const guarded = new WeakSet<object>();
  wrap<typeof http2.connect>(http2, "connect", (real) => (...parameters) => {
    const session = real(...(parameters as Parameters<typeof http2.connect>));
    const prototype = Object.getPrototypeOf(session) as http2.ClientHttp2Session;
    if (!guarded.has(prototype)) {
      guarded.add(prototype);
      wrap<SocketMethod>(
        prototype,
        "request",
        (realRequest) =>
          function request(...asked) {
            const error = currentScene()?.refuse(`an HTTP/2 request to ${String(parameters[0])}`);
            if (error) throw error;
            return realRequest.apply(this, asked);
          },
      );
    }
    return session;
  });
}
