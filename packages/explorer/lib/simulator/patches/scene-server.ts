/** Reads the requests of a scene's HTTP clients from their connections, and answers as the scene does. */
import { type IncomingHttpHeaders, type IncomingMessage, Server, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { type Scene, within } from "../scene.ts";
import { type FarEnd, type OtherEnd, SceneSocket } from "./scene-socket.ts";

/** Headers of the connection or of the transport, not of the request itself. */
const OF_THE_WAY = [
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
];

/** Never listens: connections are handed to the server. */
let server: Server | undefined;

/** Call this outside of scenes: a server has its own timers. */
export function startServer(): void {
  server ??= new Server({ keepAliveTimeout: 0, maxHeaderSize: 2 ** 20, requireHostHeader: false }, answer);
}

/** A connection to the target, as an agent opens one. */
export function connectInScene(scene: Scene, target: FarEnd): SceneSocket {
  const socket = new SceneSocket(scene, target);
  server?.emit("connection", socket.otherEnd);
  return socket;
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { scene, target, client } = request.socket as unknown as OtherEnd;
  const send = async () => {
    const body = await buffer(request);
    const { url = "/", method = "GET", headers } = request;
    const sent = { ...pointedTo(target, url), method, headers: plainHeaders(headers), body };
    const { statusCode, headers: answered, body: bytes } = await scene.send(sent, client.closedSignal);
    response.sendDate = false;
    response.writeHead(statusCode, "", ownHeaders(answered));
    response.end(bytes);
  };
  within(scene, send).catch((error: unknown) => client.destroy(asOfNode(error as Error)));
}

/** A proxy's client requests a whole URL: the simulation has no proxies. */
function pointedTo({ protocol, hostname, port }: FarEnd, url: string) {
  const whole = /^https?:/.test(url) && URL.canParse(url) ? new URL(url) : undefined;
  return {
    protocol: whole?.protocol ?? protocol,
    hostname: whole?.hostname ?? hostname,
    port: whole ? Number(whole.port) || undefined : port,
    path: whole ? whole.pathname + whole.search : url,
  };
}

function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !OF_THE_WAY.includes(name))
      .map(([name, value]) => [name, `${value}`]),
  );
}

/** Node computes the length, because the handler may have stated a different one. */
function ownHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(content-length|transfer-encoding)$/i.test(name)),
  );
}

/** Unwraps the error of `fetch`, because Node's clients report the cause itself. */
function asOfNode(error: Error): Error {
  const { cause } = error;
  return cause instanceof Error && error.message === "fetch failed" ? cause : error;
}
