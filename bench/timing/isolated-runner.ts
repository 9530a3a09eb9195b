// A contestant in a process of its own: what a package switches on for its whole process, such as Node's tracking of async
// contexts, then slows nobody else.
import { fork } from "node:child_process";
import { once } from "node:events";
import type { World } from "../contestants/world.ts";
import type { Runner, Speed } from "./speed.ts";

export interface IsolatedSetup {
  readonly contestant: string;
  readonly endpoint: string;
  readonly tables: Omit<World, "client">;
}

export interface IsolatedRunner extends Runner {
  /** The process also ends with its parent. */
  stop(): void;
}

export function isolatedRunner(setup: IsolatedSetup): IsolatedRunner {
  const child = fork(new URL("./speed-process.ts", import.meta.url), [JSON.stringify(setup)]);
  const ask = async (what: keyof Runner): Promise<unknown> => {
    child.send(what);
    const [answer] = await Promise.race([once(child, "message"), once(child, "exit").then(failed)]);
    return answer;
  };
  return {
    warmUp: async () => void (await ask("warmUp")),
    round: async () => (await ask("round")) as Speed,
    stop: () => child.disconnect(),
  };
}

function failed(): never {
  throw new Error("the process of a contestant ended before its time");
}
