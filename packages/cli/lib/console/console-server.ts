/** Serves the console page and its answers on 127.0.0.1. Read-only unless it may write. */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { hasCode } from "onceonly/kit";
import { UsageError } from "../command.ts";
import { consolePage } from "../console-page.ts";
import type { Act, ConsoleSource } from "./console-source.ts";
import { ANSWER_HEADERS, hasToken, pageHeaders, strangerFault } from "./guard.ts";
import { listen, stop } from "./listen.ts";

export interface ConsoleOptions {
  readonly source: ConsoleSource;
  /** 0 takes any free one. */
  readonly port: number;
  /** Whether acts are done. */
  readonly mayWrite: boolean;
  /** @default - the page that the build makes */
  readonly pageOf?: typeof consolePage;
}

export interface RunningConsole {
  /** The address of the page. */
  readonly url: string;
  stop(): Promise<void>;
}

/** More than a record may hold, because the body of a message can be sent. */
const MAX_BODY_BYTES = 1_048_576;
const HASH = /^[\w-]{43}$/;
const NOT_LOOKED_UP = "that record hasn't been looked up: find its key first";

/** What is answered where a request cannot be. */
class ConsoleRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export async function startConsole({
  source,
  port,
  mayWrite,
  pageOf = consolePage,
}: ConsoleOptions): Promise<RunningConsole> {
  const token = randomBytes(32).toString("base64url");

  async function servePage(response: ServerResponse): Promise<void> {
    const nonce = randomBytes(18).toString("base64url");
    // Before the headers: without a page there is another answer.
    const page = await pageOf({ nonce, token });
    response.writeHead(200, pageHeaders(nonce)).end(page);
  }

  async function answerTo(request: IncomingMessage, path: string): Promise<unknown> {
    if (!hasToken(request.headers, token))
      throw new ConsoleRefusal(403, "the request doesn't carry the token of this console run");
    const [, hash] = /^\/api\/lives\/([^/]+)$/.exec(path) ?? [];
    if (request.method === "GET" && path === "/api/look") return { ...(await source.look()), mayWrite };
    if (request.method === "GET" && hash !== undefined) {
      const life = HASH.test(hash) ? await source.lifeOf(hash) : undefined;
      if (!life) throw new ConsoleRefusal(404, NOT_LOOKED_UP);
      return life;
    }
    if (request.method !== "POST") throw new ConsoleRefusal(404, "no such page");
    if (path === "/api/find") {
      const { operation = "", scope = "", key } = await bodyOf(request);
      return source.find({ operation: text(operation), scope: text(scope), key: text(key) });
    }
    if (path === "/api/child") {
      const { keyHash, name, maxLength, hex } = await bodyOf(request);
      const limits = {
        ...(maxLength !== undefined && { maxLength: Number(maxLength) }),
        ...(hex === true && { format: "hex" as const }),
      };
      const childKey = source.childKeyOf(text(keyHash), text(name), limits);
      if (childKey === undefined) throw new ConsoleRefusal(404, NOT_LOOKED_UP);
      return { childKey };
    }
    if (!/^\/api\/(act|bodies|owned)$/.test(path)) throw new ConsoleRefusal(404, "no such page");
    if (!mayWrite) throw new ConsoleRefusal(403, "this console is read-only: start it with --write");
    const asked = await bodyOf(request);
    if (path === "/api/act") return source.act({ ...asked, act: text(asked.act) } satisfies Act);
    if (path === "/api/bodies") {
      const bodies = await source.bodiesOf(text(asked.keyHash));
      if (!bodies) throw new ConsoleRefusal(404, "that record has no unsent messages");
      return { bodies };
    }
    const { operation = "", scope = "", scan } = asked;
    return source.owned({ operation: text(operation), scope: text(scope), scan: scan === true });
  }

  const server = createServer((request, response) => {
    const { port: own } = server.address() as AddressInfo;
    const path = `${request.url}`.split("?")[0]!;
    const stranger = strangerFault(request.headers, own);
    if (stranger !== undefined) return send(response, 421, { problem: stranger });
    if (request.method === "GET" && path === "/") {
      servePage(response).catch((error) => send(response, ...refused(error)));
      return;
    }
    answerTo(request, path).then(
      (answer) => send(response, 200, answer),
      (error) => send(response, ...refused(error)),
    );
  });
  const own = await listen(server, port);
  return {
    url: `http://127.0.0.1:${own}/`,
    stop: () => stop(server),
  };
}

/** Errors about what a person has entered. */
const ASKERS = [
  ...["IDEMPOTENCY_KEY_INVALID", "SCOPE_MISSING", "INVALID_OPTION"],
  ...["PAYLOAD_INVALID", "MESSAGE_ID_INVALID"],
];

/** What a database or a record says of itself holds no payload. */
function refused(error: unknown): [number, object] {
  const isAskers = ASKERS.some((code) => hasCode(error, code));
  const isCallers = isAskers || error instanceof UsageError;
  const status = error instanceof ConsoleRefusal ? error.status : isCallers ? 400 : 502;
  return [status, { problem: error instanceof Error ? error.message : "the console failed" }];
}

function send(response: ServerResponse, status: number, answer: unknown): void {
  const headers = { ...ANSWER_HEADERS, "content-type": "application/json" };
  response.writeHead(status, headers).end(JSON.stringify(answer));
}

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  if (request.headers["content-type"] !== "application/json") throw new ConsoleRefusal(415, "expected JSON");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  // Read to its end: a browser that is still sending wouldn't read the answer.
  if (size > MAX_BODY_BYTES) throw new ConsoleRefusal(413, "the request body is too large");
  try {
    return Object(JSON.parse(Buffer.concat(chunks).toString()));
  } catch {
    throw new ConsoleRefusal(400, "the request body isn't JSON");
  }
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw new ConsoleRefusal(400, "operation, scope, key, name and act must be strings");
}
