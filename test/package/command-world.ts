// A command that goes on until Ctrl-C, as a terminal runs it: in a group of its own, so that Ctrl-C reaches all of it.
import { spawn } from "node:child_process";

export interface StartedCommand {
  /** What it has printed, once that matches. @throws Error with what it has printed, if it ends before */
  said(pattern: RegExp): Promise<string>;
  /** Resolves when it has ended. */
  pressCtrlC(): Promise<void>;
}

export function startCommand(
  command: string,
  folder: string,
  environment: Readonly<Record<string, string>>,
): StartedCommand {
  const env = { ...process.env, ...environment };
  const child = spawn("sh", ["-c", command], { cwd: folder, env, detached: true });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
    });
  }
  return {
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => pattern.test(printed) && resolve(printed);
        for (const stream of [child.stdout, child.stderr]) stream.on("data", look);
        void ended.then(() => reject(new Error(`"${command}" ended; it said:\n${printed}`)));
        look();
      }),
    async pressCtrlC() {
      if (child.exitCode === null) process.kill(-child.pid!, "SIGINT");
      await ended;
    },
  };
}
