// Sends requests over many connections in parallel, on each connection the next one as soon as it has its response. Every
// response goes into the journal.
import autocannon from "autocannon";
import { DEMO_TOKENS } from "../../../../bin/demo-tokens.ts";
import type { Journal } from "../demo/journal.ts";
import { type Ask, otherBodyOf } from "./plan-load.ts";

export interface SendOptions {
  readonly url: string;
  readonly connections: number;
  /** How long all of it may last. */
  readonly seconds: number;
  readonly journal: Pick<Journal, "sent" | "answered">;
  /** Asked once for each request, when it is sent. */
  readonly nextAsk: () => Ask;
  /** How many requests are sent. */
  readonly amount: number;
  readonly onAnswer?: ((ask: Ask, status: number) => void) | undefined;
  readonly signal: AbortSignal;
}

export interface Sent {
  /** Requests that got an answer. */
  readonly answered: number;
  /** Requests without an answer. */
  readonly unanswered: number;
  readonly connectionErrors: number;
  readonly timeouts: number;
  readonly seconds: number;
  readonly latencyMs: { readonly p50: number; readonly p90: number; readonly p99: number };
}

/** Longer than the function may run and its callers may wait. */
const TIMEOUT_SECONDS = 30;
const SAMPLE_EVERY_MS = 100;

/** @throws the signal's reason, once it aborts */
export async function sendAsks(options: SendOptions): Promise<Sent> {
  const { url, amount, journal, nextAsk, onAnswer, signal } = options;
  const written: Promise<void>[] = [];
  signal.throwIfAborted();

  const result = await fire(
    {
      url,
      amount,
      connections: Math.min(options.connections, amount),
      timeout: TIMEOUT_SECONDS,
      sampleInt: SAMPLE_EVERY_MS,
      requests: [
        {
          setupRequest(request, context) {
            const ask = nextAsk();
            Object.assign(context, { ask });
            journal.sent();
            return { ...request, ...requestFor(ask) };
          },
          // There is one request under way on each connection, and its context is its own.
          onResponse(status, body, context, headers = {}) {
            const { ask } = context as { ask: Ask };
            const { tenant, key } = ask.order;
            const given = Object.entries(headers).map(([name, value]): [string, string] => [
              name,
              String(value),
            ]);
            const response = new Response(body, { status, headers: given });
            written.push(journal.answered({ tenant, key, asked: ask.asked }, response));
            onAnswer?.(ask, status);
          },
        },
      ],
    },
    options,
  );
  await Promise.all(written);
  signal.throwIfAborted();
  const { p50, p90, p99 } = result.latency;
  return {
    answered: written.length,
    unanswered: amount - written.length,
    connectionErrors: result.errors - result.timeouts,
    timeouts: result.timeouts,
    seconds: result.duration,
    latencyMs: { p50, p90, p99 },
  };
}

function requestFor({ order, asked }: Ask): autocannon.Request {
  const { tenant, key, body } = order;
  return {
    method: "POST",
    path: "/orders",
    headers: {
      authorization: `Bearer ${DEMO_TOKENS[tenant]}`,
      "content-type": "application/json",
      "idempotency-key": `"${key}"`,
    },
    body: JSON.stringify(asked === "order" ? body : otherBodyOf(order)),
  };
}

/** Ends early when the time is over or the signal aborts: requests under way are then left without a response. */
function fire(
  options: autocannon.Options,
  { seconds, signal }: Pick<SendOptions, "seconds" | "signal">,
): Promise<autocannon.Result> {
  return new Promise((resolve, reject) => {
    const running = autocannon(options, (error, result) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      if (error) reject(error);
      else resolve(result);
    });
    const stop = () => running.stop();
    const timer = setTimeout(stop, seconds * 1000);
    signal.addEventListener("abort", stop);
  });
}
