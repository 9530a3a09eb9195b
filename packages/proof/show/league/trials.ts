// What `onceonly conform` can't see from outside: a handler that fails, headers of a replay, and the store's commands.
import { randomUUID } from "node:crypto";
import { createClient } from "redis";
import { isSuccess, post } from "./send.ts";
import type { Stage } from "./stage.ts";

export interface Trials {
  /** What a retry gets after the handler threw at the first call. */
  readonly afterFailure: string;
  /** `undefined` if the first response had none, or if there was no replay. */
  readonly replaysLocation: boolean | undefined;
  readonly replaysCookie: boolean | undefined;
  /** Commands for a first run, and for a replay. `undefined` without Valkey, and if a library also polls it. */
  readonly commands: readonly [first: number, replay: number] | undefined;
}

export async function playTrials({ url: site, contestant, valkeyUrl }: Stage): Promise<Trials> {
  const url = `${site}/orders`;
  const counted = contestant.claimHas ? undefined : valkeyUrl;
  const key = randomUUID();
  const send = async () => {
    const before = await commands(counted);
    const answer = await post(url, key);
    return { answer, commands: (await commands(counted)) - before };
  };
  // Scripts are loaded, and connections made, before anything is counted.
  await post(url, randomUUID());
  const [first, replay] = [await send(), await send()];
  const replayed = (header: string) =>
    first.answer.headers.has(header) && isSuccess(replay.answer)
      ? replay.answer.headers.has(header)
      : undefined;
  const fail = randomUUID();
  const [failure, retry] = [await post(url, fail, { fail }), await post(url, fail, { fail })];
  return {
    afterFailure: isSuccess(failure)
      ? "isn't needed: it retries by itself"
      : isSuccess(retry)
        ? "runs again"
        : `gets ${retry.status} again`,
    replaysLocation: replayed("location"),
    replaysCookie: replayed("set-cookie"),
    commands: counted === undefined ? undefined : [first.commands, replay.commands],
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
