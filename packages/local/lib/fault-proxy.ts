// A small HTTP proxy on loopback in front of a DynamoDB engine. It imitates unreliable networks and busy tables:
// it loses the response to a write that was applied, throttles, reports a conflict, delays, or delivers a copy later.
import { Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { conflictAnswer, type FaultAnswer, throttleAnswer } from "./fault-answers.ts";
import { createLoopbackServer, listen, stop } from "./loopback-server.ts";
import { createWaitingRoom } from "./waiting-room.ts";

export interface ObservedRequest {
  /** Such as `UpdateItem`. */
  readonly operation: string;
  /** Counts all requests from 1, retries of the SDK included. */
  readonly sequence: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * `lose-answer`: the engine applies the request, then the caller's connection breaks. `throttle` and `conflict`: the engine
 * never sees it. `delayMs`: the engine gets it that much later, even if the caller has hung up. `repeatAfterMs`: it
 * passes, and the engine gets a copy of it that much later; with `unlessRefused` only if the engine accepted it.
 */
export type ProxyFault =
  | "pass"
  | "lose-answer"
  | "throttle"
  | "conflict"
  | { readonly delayMs: number }
  | { readonly repeatAfterMs: number; readonly unlessRefused?: boolean };

export interface FaultCounts {
  readonly requests: number;
  readonly lost: number;
  readonly throttled: number;
  readonly conflicts: number;
  readonly delayed: number;
  readonly repeated: number;
}

/** The engine's response to a request or to a copy of one. */
export interface ObservedAnswer {
  readonly statusCode: number;
  readonly isOfCopy: boolean;
}

export interface FaultProxyOptions {
  /** The engine's endpoint; plain HTTP. */
  readonly target: string;
  /** Asked once for each request that arrives. */
  readonly decide: (request: ObservedRequest) => ProxyFault;
  /** Called with each of the engine's responses, even if no caller receives it. */
  readonly onAnswer?: (request: ObservedRequest, answer: ObservedAnswer) => void;
}

export interface FaultProxy {
  readonly endpoint: string;
  /** The counts of one operation, or of all operations together. */
  counts(operation?: string): FaultCounts;
  /** Passes on delayed and repeated requests immediately; resolves when the engine has answered them. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const target = new URL(options.target);
  if (target.protocol !== "http:") {
    throw new Error(
      `the fault proxy only speaks plain HTTP, but its target is ${options.target}: point it at a local engine`,
    );
  }
  const agent = new Agent({ keepAlive: true });
  const held = createWaitingRoom();
  const countsOf = new Map<string, Counts>();
  let sequence = 0;

  async function handleRequest(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(incoming);
    const operation = String(incoming.headers["x-amz-target"] ?? "").replace(/^.*\./, "");
    const counts = countsOf.get(operation) ?? noCounts();
    countsOf.set(operation, counts);
    counts.requests++;
    const request = { operation, sequence: ++sequence, body: parseBody(bytes) };
    const fault = options.decide(request);
    const ask = async (isOfCopy: boolean) => {
      const answer = await forward(incoming, bytes);
      options.onAnswer?.(request, { statusCode: answer.statusCode ?? 502, isOfCopy });
      return answer;
    };

    const repeat = (afterMs: number) => {
      counts.repeated++;
      // No caller waits for the response to a copy, or for a response from an engine that is gone.
      const askAgain = async () => void (await buffer(await ask(true)));
      held.after(afterMs, askAgain).catch(() => undefined);
    };

    if (fault === "throttle") {
      counts.throttled++;
      return refuse(response, throttleAnswer());
    }
    if (fault === "conflict") {
      counts.conflicts++;
      return refuse(response, conflictAnswer(operation, request.body));
    }
    const isDelayed = typeof fault === "object" && "delayMs" in fault;
    if (isDelayed) counts.delayed++;
    const answer = await (isDelayed ? held.after(fault.delayMs, () => ask(false)) : ask(false));
    if (typeof fault === "object" && "repeatAfterMs" in fault) {
      if (!fault.unlessRefused || answer.statusCode === 200) repeat(fault.repeatAfterMs);
    }
    if (fault === "lose-answer") {
      await buffer(answer);
      counts.lost++;
      incoming.socket.destroy();
      return;
    }
    response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    answer.pipe(response);
  }

  function forward(incoming: IncomingMessage, bytes: Buffer): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = target;
      const { method, url: path, headers } = incoming;
      httpRequest({ hostname, port, method, path, headers, agent }, resolve).on("error", reject).end(bytes);
    });
  }

  const server = createLoopbackServer((incoming, response) => {
    // An engine that is gone looks to the caller like one that is gone without a proxy.
    handleRequest(incoming, response).catch(() => incoming.socket.destroy());
  });
  server.keepAliveTimeout = 0;
  const port = await listen(server);

  return {
    endpoint: `http://127.0.0.1:${port}`,
    counts(operation) {
      if (operation !== undefined) return { ...noCounts(), ...countsOf.get(operation) };
      return [...countsOf.values()].reduce(addCounts, noCounts());
    },
    flush: () => held.empty(),
    async stop() {
      held.close();
      agent.destroy();
      await stop(server);
    },
  };
}

type Counts = { -readonly [name in keyof FaultCounts]: number };

function noCounts(): Counts {
  return { requests: 0, lost: 0, throttled: 0, conflicts: 0, delayed: 0, repeated: 0 };
}

function addCounts(sum: Counts, counts: Counts): Counts {
  for (const name of Object.keys(sum) as (keyof Counts)[]) sum[name] += counts[name];
  return sum;
}

function parseBody(bytes: Buffer): Record<string, unknown> {
  try {
    return Object(JSON.parse(bytes.toString()));
  } catch {
    return {};
  }
}

function refuse(response: ServerResponse, answer: FaultAnswer): void {
  response.writeHead(400, { "content-type": "application/x-amz-json-1.0" }).end(JSON.stringify(answer));
}
