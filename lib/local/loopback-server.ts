// HTTP servers for this machine alone. A page of the web can point a name of its own at 127.0.0.1 (DNS rebinding).
// Its scripts then reach whatever listens there, and only the Host header of their requests tells.
import { createServer, type RequestListener, type Server } from "node:http";

/** Names that lead to this machine whoever asks; `localhost` and all below it by RFC 6761. */
const LOOPBACK = /^(127(\.\d{1,3}){3}|\[::1\]|([a-z\d-]+\.)*localhost\.?)(:\d{1,5})?$/i;

/** A server that answers 421 to requests for another host. It does not listen yet: listen on 127.0.0.1. */
export function createLoopbackServer(handle: RequestListener): Server {
  return createServer((request, response) => {
    if (LOOPBACK.test(request.headers.host ?? "")) return handle(request, response);
    response
      .writeHead(421, { "content-type": "text/plain", connection: "close" })
      .end("this server is for this machine alone: ask it as 127.0.0.1 or localhost\n");
  });
}
