// A process that answers calls, as its parent sees it: it can be asked, killed, stopped and let go on.
import { type ChildProcess, fork } from "node:child_process";
import { guardProcess } from "../../../local/lib/process-guard.ts";
import type { FromHands, ToHands } from "./asking.ts";
import type { WorldOptions } from "./hands/world.ts";

export interface HandProcess {
  readonly isStopped: boolean;
  /** Resolves with the last message about it, or with `undefined` when the process has ended before. */
  ask(id: number, message: ToHands, onProgress: (message: FromHands) => void): Promise<FromHands | undefined>;
  stop(): void;
  goOn(): void;
  /** SIGKILL, also while it is stopped. */
  kill(): void;
  /** Resolves when it has ended: to its last message if it was not killed. */
  readonly ended: Promise<string | undefined>;
}

interface Waiting {
  readonly onProgress: (message: FromHands) => void;
  readonly resolve: (message: FromHands | undefined) => void;
}

export function startHandProcess(bundle: string, world: WorldOptions): HandProcess {
  const child = fork(bundle, [JSON.stringify(world)], {
    execArgv: ["--max-old-space-size=256"],
    // A group of its own: Ctrl-C reaches us first, and the guard can end it.
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  guardProcess(child);
  const waiting = new Map<number, Waiting>();
  let isStopped = false;
  let isKilled = false;
  let lastWords = "";

  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    lastWords = (lastWords + text).slice(-2000);
  });
  child.on("message", (message: FromHands) => {
    const waits = waiting.get(message.id);
    if (!isLast(message)) return waits?.onProgress(message);
    waiting.delete(message.id);
    waits?.resolve(message);
  });
  const ended = new Promise<string | undefined>((resolve) => {
    child.once("exit", (code) => {
      for (const { resolve: end } of waiting.values()) end(undefined);
      waiting.clear();
      resolve(isKilled ? undefined : `exit status ${code}: ${lastWords}`);
    });
  });

  return {
    get isStopped() {
      return isStopped;
    },
    ask(id, message, onProgress) {
      return new Promise((resolve) => {
        if (!child.connected) return resolve(undefined);
        waiting.set(id, { onProgress, resolve });
        // A process that ends in between is recognized by its end.
        child.send(message, () => undefined);
      });
    },
    stop() {
      isStopped = true;
      signal(child, "SIGSTOP");
    },
    goOn() {
      isStopped = false;
      signal(child, "SIGCONT");
    },
    kill() {
      isKilled = true;
      signal(child, "SIGKILL");
    },
    ended,
  };
}

function isLast(message: FromHands): boolean {
  return "ended" in message || "result" in message || "error" in message;
}

function signal(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.exitCode === null && child.signalCode === null) child.kill(name);
}
