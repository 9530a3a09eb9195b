// Callers over keep-alive connections, each of which sends its next request when it has its answer.
import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export interface Turn {
  /** The duration of each request, in ms. */
  readonly latencies: readonly number[];
  readonly seconds: number;
}

export interface Target {
  readonly port: number;
  readonly agent: Agent;
  /** Whether the second answer to a key is a replay: not of the bare handler. */
  readonly hasStore: boolean;
}

export const targetOf = (port: number, hasStore: boolean): Target => ({
  port,
  agent: new Agent({ keepAlive: true }),
  hasStore,
});

/** @throws if a response isn't 201, isn't the key's, or is a replay when none is expected, or the reverse */
function post({ port, agent }: Target, workMs: number, key: string, isReplay = false): Promise<number> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ item: "book", key });
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "idempotency-key": key,
    };
    const sent = request(
      { host: "127.0.0.1", port, agent, method: "POST", path: `/work/${workMs}`, headers },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const ms = performance.now() - startedAt;
          const text = Buffer.concat(chunks).toString();
          const wasReplayed = response.headers["idempotent-replayed"] === "true";
          if (response.statusCode === 201 && text.includes(key) && wasReplayed === isReplay) resolve(ms);
          else reject(new Error(`${response.statusCode}${wasReplayed ? ", a replay:" : ""} ${text}`));
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Each request has its own key. Callers begin one after the other: if all began together, they would run in step. */
export async function press(target: Target, workMs: number, callers: number, forMs: number): Promise<Turn> {
  const startedAt = performance.now();
  const latencies: number[] = [];
  const caller = async (index: number) => {
    await sleep((index * workMs) / callers);
    while (performance.now() - startedAt < forMs) latencies.push(await post(target, workMs, randomUUID()));
  };
  await Promise.all(Array.from({ length: callers }, (_, index) => caller(index)));
  return { latencies, seconds: (performance.now() - startedAt) / 1000 };
}

/** One caller, with `calls` keys one after the other, and with the same keys again. */
export async function askTwice(target: Target, workMs: number, calls: number) {
  const keys = Array.from({ length: calls }, () => randomUUID());
  const first: number[] = [];
  const again: number[] = [];
  for (const key of keys) first.push(await post(target, workMs, key));
  for (const key of keys) again.push(await post(target, workMs, key, target.hasStore));
  return { first, again };
}
