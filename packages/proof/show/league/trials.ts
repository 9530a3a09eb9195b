// What `onceonly conform` can't see from outside: a handler that fails, headers of a replay, and the store's commands.
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { createClient } from "redis";
import type { World } from "./contestant.ts";

export interface Trials {
  /** What a retry gets after the handler threw at the first call. */
  readonly afterFailure: string;
  /** `undefined` if the first response had none, or if there was no replay. */
  readonly replaysLocation: boolean | undefined;
  readonly replaysCookie: boolean | undefined;
  /** Commands for a first run, and for a replay. `undefined` without Valkey. */
  readonly commands: readonly [first: number, replay: number] | undefined;
}

/** Long enough for every request of a race to arrive. */
const WORK_MS = 20;

/** Orders are counted. A body with `fail` makes its first call fail. */
export function orderBook() {
  let orders = 0;
  const failed = new Set<string>();
  const makeOrder: World["makeOrder"] = async (body) => {
    await setTimeout(WORK_MS);
    const { fail } = Object(body) as { fail?: string };
    if (fail !== undefined && !failed.has(fail)) {
      failed.add(fail);
      throw new Error("the card was declined");
    }
    return { id: ++orders };
  };
  return { makeOrder, count: () => orders };
}

async function post(url: string, key: string, body: object = {}) {
  const headers = { "content-type": "application/json", authorization: "ana", "idempotency-key": key };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  await answer.arrayBuffer();
  return answer;
}

export async function playTrials(url: string, valkeyUrl: string | undefined): Promise<Trials> {
  const key = randomUUID();
  const send = async () => {
    const before = await commands(valkeyUrl);
    const answer = await post(url, key);
    return { answer, commands: (await commands(valkeyUrl)) - before };
  };
  // Scripts are loaded, and connections made, before anything is counted.
  await post(url, randomUUID());
  const [first, replay] = [await send(), await send()];
  const replayed = (header: string) =>
    first.answer.headers.has(header) && replay.answer.ok ? replay.answer.headers.has(header) : undefined;
  const fail = randomUUID();
  const failures = [await post(url, fail, { fail }), await post(url, fail, { fail })].map(
    ({ status }) => status,
  );
  return {
    afterFailure: failures[1] === 201 ? "runs again" : `gets ${failures[1]} again`,
    replaysLocation: replayed("location"),
    replaysCookie: replayed("set-cookie"),
    commands: valkeyUrl === undefined ? undefined : [first.commands, replay.commands],
  };
}

/** All commands that the server has run for others, those inside scripts included. */
async function commands(url: string | undefined): Promise<number> {
  if (url === undefined) return 0;
  const client = await createClient({ url }).connect();
  const stats = await client.info("commandstats");
  client.destroy();
  return [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)]
    .filter(([, name]) => !/^(info|hello|client|config)/.test(name!))
    .reduce((sum, [, , calls]) => sum + Number(calls), 0);
}
